/* The superuser's way along a path, a directory at a time. For at.c alone. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

struct walk {
	const char *path; /* as it was given */
	bool last_followed, last_entered;
	int dir;
	struct stat stat; /* of it */
	uid_t owner;      /* of it, or of the link behind which nothing else counts */
	gid_t group;
	bool stuck; /* behind a link that another account could have made: the kernel goes on from here,
				   with that account's rights */
	bool acts;  /* this thread has the rights of `owner` */
	bool sure;  /* no account could have changed any of the way */
	char *text, *rest; /* what is left of the path */
	char *walked;      /* the absolute path of `dir`, without links; NULL where that is not known */
	int links;
};

/* Up to the directory of what the path names, or into it (last_entered). This thread is left with
 * that directory's rights, in any case; walk_end takes them back and frees all. */
int walk_path(struct jw_error *err, struct walk *walk);
void walk_end(struct walk *walk);

/* Whether others than the superuser may write to a directory. */
bool walk_is_shared(const struct stat *stat);
