/* Walks a path for the superuser, one directory at a time. For at.c only. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

struct walk {
	const char *path; /* as it was given */
	bool last_followed, last_entered;
	int dir;
	struct stat stat; /* of it */
	bool shared;      /* accounts other than the superuser may write to it */
	uid_t owner;      /* of it, or of the link that decides the rest */
	gid_t group;
	bool stuck; /* behind a link that another account could have made: the kernel continues from
				   here with that account's rights */
	bool acts;  /* this thread has the rights of `owner` */
	bool sure;  /* no account could have changed any part of the way */
	bool known; /* `walked` is known */
	int links;
	const char *rest;      /* of the path, in `text` */
	char text[PATH_MAX];   /* no walk takes memory, so that what was made can always be removed */
	char walked[PATH_MAX]; /* the absolute path of `dir`, without links */
};

/* The state before walk_path, which leaves the two texts as they are. */
void walk_begin(struct walk *walk, const char *path, bool last_followed, bool last_entered);

/* Walks to the directory that holds the path's target, or into the target (last_entered). In any
 * case this thread then has that directory's rights; walk_end returns them. A walk must not be
 * moved: it points into itself. `sure`: 0, or the length of a directory's path above the
 * last name that a walk has just shown to be the superuser's, without links: it begins there. */
int walk_path(struct jw_error *err, struct walk *walk, size_t sure);
void walk_end(struct walk *walk);

/* Whether accounts other than the superuser may write to what `path` names, links followed. With an
 * access list the group's bits are the maximum that any of its entries allows; a list that cannot
 * be looked for is one. */
bool walk_is_shared(const char *path, const struct stat *stat);
