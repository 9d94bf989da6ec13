/* libuv's loops. Its errors and transfers are for this room's files only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/error.h"

/* Opens a loop, which uv_loop_close ends; no other function does. With too few descriptors it
 * fails, whereas uv_loop_init would end the process. */
int os_loop_open(struct jw_error *err, uv_loop_t *ret_loop);

/* Sets the reason of a system's error number (errno, GetLastError()) after the path. Common reasons
 * read the same on every system. Returns -1. */
int os_error_number(struct jw_error *err, const char *path, int number);
/* `got` is the return value of the function that began the request; a negative one becomes -1 with
 * the system's reason. Frees the request's memory. */
int os_uv_result(struct jw_error *err, const char *path, uv_fs_t *request, int got);

/* A program whose streams and end a loop serves; os_run starts one that needs neither. */
struct os_spawn {
	const char *program;          /* a path, on POSIX also a name that is on PATH */
	const char *const *arguments; /* the first is the program's own name; NULL at the end */
	char **environment;           /* NULL: this process's */
	const char *folder;           /* its working directory; NULL: this process's */
	uv_stdio_container_t streams[3];
	uv_exit_cb ended;
	bool has_console; /* Windows: it may show a console window */
};
/* Starts it. Returns 0, or libuv's number of the failure; then `process` has to be closed, too. */
int os_spawn(uv_loop_t *loop, uv_process_t *process, const struct os_spawn *how);

/* Transfers as much as one call may. If `offset` is -1, it continues after the last transfer.
 * Returns the number of bytes, or -1. */
int os_uv_read(struct jw_error *err, const char *path, int fd, void *data, size_t size,
			   int64_t offset);
/* Transfers everything. */
int os_uv_write(struct jw_error *err, const char *path, int fd, const void *data, size_t size,
				int64_t offset);

/* These two make a mutex and a condition; without memory for it the process ends. */
void os_mutex_make(uv_mutex_t *ret_mutex);
void os_cond_make(uv_cond_t *ret_cond);
/* Starts a thread like uv_thread_create, but with a sufficient stack, independent of the shell's
 * limit. */
int os_thread_start(uv_thread_t *ret_thread, uv_thread_cb run, void *context);
