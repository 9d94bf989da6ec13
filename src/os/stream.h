/* Pipes and standard streams, by descriptor. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* For worker processes: returns a copy of stdout for our own use; from then on everything else
 * written to stdout goes to stderr (the driver and its compiler may print at any time). */
int os_take_stdout(struct jw_error *err, int *ret_fd);
/* Reads the available bytes, and waits only if there are none; *ret_got is 0 at the end. */
int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
/* Reads or writes all of the requested bytes; *ret_got is smaller only at the end. */
int os_fd_read(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size);

/* Opens what a user named for output if that is no regular file: a device, or a pipe, whose reader
 * is waited for for two seconds. What is written goes there at once. *ret_fd is -1 for a path that
 * is to be replaced as a whole: a regular file, or nothing. JW_ERR_UNSUPPORTED: a directory, a
 * disk, a socket, a pipe that nobody reads. */
int os_sink_open(struct jw_error *err, const char *path, int *ret_fd);
int os_sink_write(struct jw_error *err, const char *path, int fd, const void *data, size_t size);
void os_sink_close(const char *path, int fd);
