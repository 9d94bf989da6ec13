/* Connects the common part of os/file.h with each system's own. Files are descriptors of libuv's.
 */
#pragma once

#include "os/file.h"

struct os_file {
	int fd;
	bool locked; /* on Windows */
	char *path;
};

/* The descriptor, or -1. Opens without waiting for a pipe's writer, and refuses anything but a
 * regular file. */
int open_regular(struct jw_error *err, const char *path, struct os_stat *ret_stat);
int close_fd(struct jw_error *err, const char *path, int fd);

int fd_stat(struct jw_error *err, int fd, const char *path, struct os_stat *ret_stat);
/* The permissions of a new file (RIGHTS_OF_NEW: those that the umask leaves), and the owner of the
 * one that it replaces (`like`; else NULL). Nothing on Windows, where a file inherits its rights
 * from its folder. */
enum { RIGHTS_OF_NEW = UINT16_MAX };
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode,
				  const struct os_stat *like);

/* NULL on failure. */
void *map_view(struct jw_error *err, int fd, const char *path, size_t size);
void map_unview(void *view, size_t size);
