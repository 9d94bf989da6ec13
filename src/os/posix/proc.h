/* What Linux shows of a process, for this folder's files only. */
#pragma once

#include <stdint.h>

#include "base/buf.h"

/* Files in /proc report no size: reads to the end. One that cannot be read is empty. */
int posix_read_proc(struct jw_error *err, const char *path, struct buf *text);
/* As os_process_owner, wherever its files are. */
int posix_process_owner(struct jw_error *err, int pid, uint32_t *ret_owner);
