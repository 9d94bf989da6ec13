/* Shared by this folder's files only. */
#pragma once

#include "os/file.h"

/* -1, with errno's reason behind the path. */
int posix_error(struct jw_error *err, const char *path);
/* Whether this process has entered another's files (os/enter.h). The system's functions that name
 * accounts would read its lists, which may be pipes without an end: they are not to be called. It
 * is for good. */
bool posix_names_are_hostile(void);
void posix_names_become_hostile(void);
/* A path of /proc or /sys, after $JITWARM_SYSTEM_ROOT if that is set. NULL when memory is short;
 * the caller frees it. */
char *posix_system_path(const char *path);
/* Reads the text of such a file; the path is formatted as in printf. False if there is none. The
 * caller frees it. */
bool posix_kernel_text(struct buf *text, const char *format, ...) JW_PRINTF(2, 3);
