/* Shared by the files of this folder alone. */
#pragma once

#include "os/file.h"

/* -1, with errno's reason behind the path. */
int posix_error(struct jw_error *err, const char *path);
/* A path of /proc or /sys, behind $JITWARM_SYSTEM_ROOT where that is set. NULL where memory is
 * short; the caller frees it. */
char *posix_system_path(const char *path);
/* The text of such a file, whose path is made as printf does; false where there is none. The caller
 * frees it. */
bool posix_kernel_text(struct buf *text, const char *format, ...) JW_PRINTF(2, 3);
