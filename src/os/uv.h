/* Between our functions and libuv's: paths and errors. For the files of this room alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"

/* `path` in the form that libuv has to be given: on Windows \\?\C:\..., which may be longer than
 * 260 characters. The caller frees it. */
char *os_uv_path(struct jw_error *err, const char *path);

/* -1, with the reason of a system's number (errno, GetLastError()) behind the path. Common reasons
 * read alike on every system. */
int os_error_number(struct jw_error *err, const char *path, int number);
/* `got` is what the function that began the request has returned; below 0 it becomes -1, with the
 * system's reason. Frees what the request holds. */
int os_uv_result(struct jw_error *err, const char *path, uv_fs_t *request, int got);

/* One transfer, of as much as one call may; `offset` -1: where the last one ended. Returns the
 * bytes, or -1. */
int os_uv_read(struct jw_error *err, const char *path, int fd, void *data, size_t size,
			   int64_t offset);
/* Everything. */
int os_uv_write(struct jw_error *err, const char *path, int fd, const void *data, size_t size,
				int64_t offset);
