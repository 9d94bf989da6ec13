/* Folders of a running process, which the next run removes if the process was killed. A lock file
 * beside the folder (PATH.lock) shows that its process is running. A process id would not: another
 * machine or container may share the folder, and its ids mean other processes. The lock is made
 * before the folder, so a folder whose lock is free has no owner. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct os_file;

/* Makes and takes the lock of the folder `path`, which the caller makes afterwards. *ret_lock is
 * NULL if files cannot be locked there. JW_ERR_BUSY if another process has the lock. */
int os_claim(struct jw_error *err, const char *path, struct os_file **ret_lock);
/* Removes the lock after the folder was removed. */
void os_unclaim(const char *path, struct os_file *lock);
/* Removes the folders of dead processes in `place` that are named PREFIX, a process id, “-” and a
 * number; a folder whose lock cannot be read is removed if it is an hour old. Folders of this
 * process stay. */
void os_sweep_claimed(const char *place, const char *prefix);
/* Returns the id of a running process of another such folder, or 0. */
int os_claimed_by(const char *place);
/* Returns whether the process of a folder with this lock has ended. A lock that cannot be read
 * counts as held for an hour. *ret_file is the opened lock, or NULL; the caller closes it. */
bool os_claim_is_dead(const char *path, const char *lock_path, struct os_file **ret_file);
