/* The door for root: who can change what a path leads to. cli/places.c decides when that counts. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The first part of a path that other accounts can change. The caller frees the path. */
struct os_part {
	char *path;
	unsigned owner;   /* the number of its account; 0 if it is root's, and others may write to it */
	bool sticky;      /* it is a folder such as /tmp, or the part lies in one */
	unsigned missing; /* it is missing in such a folder, with so many names of the path */
};

/* Returns 0 if only the superuser can change what the path leads to. On POSIX, each part from “/”
 * down, also of the paths that symlinks name, belongs to root and is not writable for its group or
 * for others. In a folder with the sticky bit (/tmp), other accounts may make names but cannot
 * change root's, so such a folder may be on the way, but no link in it, and it may not be the end.
 * A name that is missing there is refused, since every account can make it.
 * On Windows the access lists decide: administrators, the system, its installer and the owner of
 * the system's folder may change the path; above the last folder, others may add names. A missing
 * end is judged by its folder. Otherwise JW_ERR_IO with what is wrong, and *ret_part, if that is
 * not NULL; its path is NULL if a part cannot be examined, and on Windows. On success only
 * `sticky` is set, if the end lies in a folder such as /tmp. */
int os_check_private(struct jw_error *err, const char *path, struct os_part *ret_part);

/* Returns whether this process has rights that other accounts of the machine must not get by it:
 * root, but not in a user namespace that an ordinary account has made for itself (rootless
 * containers, unshare -r), where no other account is, nor under
 * fakeroot; on Windows the system's own account (LocalSystem). */
bool os_is_machine_root(void);

/* The rooms find programs, libraries and keys themselves, and ask os_guard before they start or
 * believe one. Returns -1, with a line for the user, if root would use a file that another account
 * can change; cli/places.c sets the check. Without a check everything passes. */
typedef int os_guard_check(struct jw_error *err, const char *path, bool for_all);
void os_set_guard(os_guard_check *check);
int os_guard(struct jw_error *err, const char *path);
/* Like os_guard, for a program that other accounts will start and for the machine's settings; on
 * Windows it checks for every account. */
int os_guard_for_all(struct jw_error *err, const char *path);
