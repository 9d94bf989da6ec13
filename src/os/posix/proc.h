/* What Linux shows of a process, for this folder's files only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Reads /proc/PID/NAME to its end. One that cannot be read is empty. */
int posix_read_of_process(struct jw_error *err, int pid, const char *name, struct buf *text);
/* Where a link of it leads. False: that cannot be told, or is longer than the room. */
bool posix_link_of_process(int pid, const char *name, char *room, size_t size);
/* Opens it: -1 with errno on failure. */
int posix_open_of_process(int pid, const char *name);
/* From now on, for good, both know only this process and its descendants: wherever our files are,
 * and where its account may not ask. What it has mapped is that of the program that it runs now. */
int posix_hold_process(struct jw_error *err, int pid);
/* As os_process_owner, wherever its files are. */
int posix_process_owner(struct jw_error *err, int pid, uint32_t *ret_owner);
