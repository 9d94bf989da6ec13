/* Connects the common part of os/file.h with each system's own: the calls that take a path. On
 * POSIX they use the rights that belong to the path (os/posix/at.h), on Windows libuv. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The descriptor, or -1; `flags` are UV_FS_O_... For reading, devices and pipes are not opened
 * (POSIX): JW_ERR_UNSUPPORTED. A new file has the mode that the umask leaves of
 * 0666. */
int path_open(struct jw_error *err, const char *path, int flags);
int path_make_dir(struct jw_error *err, const char *path, uint32_t mode);
int path_remove_dir(struct jw_error *err, const char *path);
int path_set_owner(struct jw_error *err, const char *path, uint32_t owner, uint32_t group);
/* Makes a file (0600) or a directory (0700) named `path` and six more letters; the caller frees the
 * name. Returns the file's descriptor, or -1. */
int path_make_file(struct jw_error *err, const char *path, char **ret_name);
int path_make_folder(struct jw_error *err, const char *path, char **ret_name);
/* The same for temporary files. Windows: an administrator's admits only administrators and the
 * system. */
int path_make_private_folder(struct jw_error *err, const char *path, char **ret_name);
bool path_is_link(const char *path);
