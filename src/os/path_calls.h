/* Connects the common part of os/file.h with each system's own: the calls that take a path. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct os_stat;

/* Returns the descriptor, or -1; `flags` are UV_FS_O_... For reading, devices and pipes are not
 * opened (POSIX): JW_ERR_UNSUPPORTED. A new file has mode 0666 less umask.
 * With `lock`, accounts that may not write to the file may not read it either. */
int path_open(struct jw_error *err, const char *path, int flags, bool lock);
int path_make_dir(struct jw_error *err, const char *path, uint32_t mode);
/* Makes a file (0600) named `path` and six more letters; the caller frees the name. Returns its
 * descriptor, or -1. */
int path_make_file(struct jw_error *err, const char *path, char **ret_name);
/* Makes a private folder (0700) for temporary files in the same way. On Windows, an administrator's
 * folder admits only administrators and the system. */
int path_make_private_folder(struct jw_error *err, const char *path, char **ret_name);
/* Chooses those letters so that they cannot be predicted: PATH_LETTERS, without a NUL. */
enum { PATH_LETTERS = 6 };
int path_choose_letters(struct jw_error *err, const char *path, char *ret_letters);
bool path_is_link(const char *path);

/* The functions that each system provides for the common part of os/file.h. Files are libuv's
 * descriptors. */
struct os_file {
	int fd;
	bool locked; /* on Windows */
	char *path;
};

/* Returns the descriptor, or -1. Does not wait for a writer of a pipe, and refuses anything but a
 * regular file. */
int close_fd(struct jw_error *err, const char *path, int fd);

int fd_stat(struct jw_error *err, int fd, const char *path, struct os_stat *ret_stat);
/* Sets the permissions of a new file (RIGHTS_OF_NEW: those that the umask leaves), or, with `keep`,
 * the rights of the file at `path`, which it replaces (os_rewrite). Does nothing on Windows,
 * where a file inherits its rights from its folder. */
enum { RIGHTS_OF_NEW = UINT16_MAX };
int fd_set_rights(struct jw_error *err, int fd, const char *path, uint32_t mode, bool keep);

/* Returns NULL on failure. */
void *map_view(struct jw_error *err, int fd, const char *path, size_t size);
void map_unview(void *view, size_t size);

/* Calls `take` for each name in a folder that begins with `prefix`, except "." and "..", until it
 * returns another value than 0, which is then returned. The stat has the kind and the device of the
 * entry itself (a link is OS_OTHER), or, with EACH_FOLLOWED, only the kind of what it leads to.
 * *ret_stat, unless it is NULL, describes the folder. */
enum { EACH_FOLLOWED = 1, EACH_OF_NO_LINK = 2 /* on POSIX, `path` is no link itself */ };
int path_each(struct jw_error *err, const char *path, const char *prefix, unsigned how,
			  int (*take)(struct jw_error *err, void *context, const char *name,
						  const struct os_stat *stat),
			  void *context, struct os_stat *ret_stat);
