/* Resolves the paths of calls that change something: below the folders of os_follow_none_below no
 * link is followed, whoever made it, and the superuser writes through none at a path's end.
 *
 *     if (at_enter(err, path, true, &at))
 *         return -1;
 *     result = mkdirat(at.dir, at.name, 0700) ? posix_error(err, path) : 0;
 *     at_leave(&at); */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct at {
	int dir;          /* the folder, for openat() and similar calls */
	const char *name; /* the name in that folder */
	bool own;         /* every folder below must be the superuser's */
	bool ours;        /* the superuser reads no file there that another account can have written */
	bool others;      /* others may have made files there, which the superuser leaves alone */
	bool guarded; /* the call must not follow a link at the end, nor write to a file with a second
					 name */
	char text[PATH_MAX];
};

/* Fills `ret_at` in place, which must not be moved. With `writes`, the call will change
 * something. */
int at_enter(struct jw_error *err, const char *path, bool writes, struct at *ret_at);
/* Keeps errno. */
void at_leave(struct at *at);
/* Returns whether the path leads to a folder of os_follow_none_below, or below one. */
bool at_is_in_closed(const char *path);

/* Opens a file, or a folder for reading. Returns -1 with errno for devices and pipes, since opening
 * alone can have effects (a watchdog restarts the machine, a tape rewinds), and for guarded paths
 * that are a link (ENODEV, too) or have a second name (EMLINK), nor does the superuser write to
 * another account's file, which may hold a lease on it (EOWNERDEAD). Below its own folders it reads
 * no link of another account, nor a file that another account owns or may write to (EOWNERDEAD).
 * Without /proc, one that takes the name in between is opened, and closed at once. */
int at_open(const struct at *at, int flags, mode_t mode);
