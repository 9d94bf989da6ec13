/* Pipes and standard streams, by descriptor. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Worker processes: a copy of stdout for our own use; from then on everything else that is written
 * to stdout goes to stderr (the driver and its compiler print when they like). */
int os_take_stdout(struct jw_error *err, int *ret_fd);
/* Reads the bytes that are there, and waits only if there are none; *ret_got is 0 at the end. */
int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
/* Reads or writes everything asked for on a descriptor; *ret_got is less only at its end. */
int os_fd_read(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size);
