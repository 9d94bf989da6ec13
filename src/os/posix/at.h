/* Whose rights a path is used with. Every call in this folder that takes a path goes through here.
 *
 * For the superuser, the owner of the directory that holds a file decides: in another account's
 * directory this thread has that account's rights (user, groups) during the call, so that the
 * kernel enforces what that account may do, whatever it plants or moves meanwhile. Directories are
 * walked by descriptors. A link is followed with the superuser's rights only if no other account
 * can have made it; behind another link, its maker's rights apply to the path's end. For all other
 * accounts a path is used unchanged, unless it is below the folder of os_follow_none_below.
 *
 *     if (at_enter(err, path, AT_LAST_FOLLOWED, &at))
 *         return -1;
 *     result = fstatat(at.dir, at.name, &native, 0) ? posix_error(err, path) : 0;
 *     at_leave(&at); */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/posix/walk.h"

/* What the call does with a link at the path's end. */
enum at_last {
	AT_LAST_KEPT,     /* it acts on the link itself */
	AT_LAST_FOLLOWED, /* it acts on the link's target */
	AT_LAST_ENTERED,  /* the same, and on the content if that is a directory: with its owner's
						 rights, as "." */
};

struct at {
	int dir;          /* for openat() and its like */
	const char *name; /* there */
	bool foreign;     /* with the rights of another account */
	bool own;         /* no other account can have redirected it here */
	bool guarded;     /* the directory is the superuser's, and others may write to it: the call must
						 not follow a link at the end, nor change a file with a second name */
	uid_t owner;      /* whose rights */
	struct walk walk; /* private */
};

/* From here to at_leave, which keeps errno, this thread has the rights that belong to the path.
 * Fills `ret_at` in place, which must not be moved. */
int at_enter(struct jw_error *err, const char *path, enum at_last last, struct at *ret_at);
void at_leave(struct at *at);

/* For a call on two paths: at_find resolves both, at_act applies their rights, at_leave ends it. */
int at_find(struct jw_error *err, const char *path, enum at_last last, struct at *ret_at);
int at_act(struct jw_error *err, struct at *at);

/* Takes the rights of an open directory's owner: *ret_acts tells whether rights_return ends it. */
int at_act_in(struct jw_error *err, const char *path, int dir, bool *ret_acts);

/* fstatat(), openat() and fchmodat(), on a link itself if `guarded`; -1 and errno. */
int at_stat(const struct at *at, struct stat *ret_stat);
int at_open(const struct at *at, int flags, mode_t mode);
int at_set_mode(const struct at *at, mode_t mode);

/* The directory's path without links, followed by the rest, resolved where only the superuser can
 * have made the links: those of other accounts are kept. NULL when memory is short. */
char *at_real_path(const struct at *at);

/* Call after a directory was removed, moved or given away: forgets what was known about paths. */
void at_forget(void);
