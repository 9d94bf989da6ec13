/* Folders of a living process, which the next run removes if the process was killed.
 *
 * A lock file beside the folder (PATH.lock) shows that its process lives. A process id would not:
 * another machine or container may share the place, and its ids mean other processes. The lock is
 * made before the folder, so a folder whose lock is free has no owner. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct os_file;

/* Makes and takes the lock of the folder `path`, which the caller makes afterwards. *ret_lock NULL:
 * files cannot be locked there. JW_ERR_BUSY. */
int os_claim(struct jw_error *err, const char *path, struct os_file **ret_lock);
/* Removes the lock; the folder is gone. */
void os_unclaim(const char *path, struct os_file *lock);
/* Removes the folders PREFIX, a process id, “-”, a number of dead processes in `place`, and no
 * other; also those an hour old whose lock cannot be seen. Skips those of this process. */
void os_sweep_claimed(const char *place, const char *prefix);
/* A living process of another folder like these: its id; 0: there is none. */
int os_claimed_by(const char *place, const char *prefix);
/* Whether the process of a folder with this lock has ended. An unseen lock is taken for held for an
 * hour. *ret_file is the lock, or NULL; the caller closes it. */
bool os_claim_is_dead(const char *path, const char *lock_path, struct os_file **ret_file);
