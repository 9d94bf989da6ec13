/* Shared by this folder's files only. */
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include "os/file.h"

/* -1, with errno's reason behind the path. */
int posix_error(struct jw_error *err, const char *path);
/* A path of /proc or /sys, after $JITWARM_SYSTEM_ROOT if that is set. NULL when memory is short;
 * the caller frees it. */
char *posix_system_path(const char *path);
/* Reads the text of such a file; the path is formatted as in printf. False if there is none. The
 * caller frees it. */
bool posix_kernel_text(struct buf *text, const char *format, ...) JW_PRINTF(2, 3);
/* What a directory's entry is; `type` is its DT_. Follows a link; one of which the system cannot
 * say where it leads (a file server that is away) counts as a file, so that whoever looks there
 * says why. */
enum os_kind posix_entry_kind(int directory, const char *name, unsigned char type);
/* Calls `take` for each name in an open folder but "." and "..", until it returns something else
 * than 0, which is then returned. Closes `fd`; -1: errno says why it could not be opened. */
int posix_each_entry(struct jw_error *err, const char *path, int fd,
					 int (*take)(struct jw_error *err, void *context, int folder,
								 const struct dirent *entry),
					 void *context);
void posix_stat_of(const struct stat *from, struct os_stat *to);
/* os_is_made_up, of an open file. */
bool posix_is_made_up(int fd);
