/* Between our functions and libuv's: paths and errors. For the files of this room alone. */
#ifndef JW_OS_UV_H
#define JW_OS_UV_H

#include <uv.h>

#include "base/error.h"

/* `path` in the form that libuv has to be given: on Windows \\?\C:\..., which may be longer than
 * 260 characters. The caller frees it. */
char *os_uv_path(struct jw_error *err, const char *path);

/* -1, with the reason of a system's number (errno, GetLastError()) behind the path. Common reasons
 * read alike on every system. */
int os_error_number(struct jw_error *err, const char *path, int number);
/* The same for a request that has failed; frees it. */
int os_uv_failed(struct jw_error *err, const char *path, uv_fs_t *request);

#endif
