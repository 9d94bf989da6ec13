/* Shared by this folder's files only. */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "os/file.h"

/* Sets errno's reason after the path; returns -1. */
int posix_error(struct jw_error *err, const char *path);
/* Returns a path of /proc or /sys, after $JITWARM_SYSTEM_ROOT if that is set. The caller frees
 * it. */
char *posix_system_path(const char *path);
/* Reads the text of such a file; the path is formatted as in printf. False if there is no such
 * file. The caller frees the text. */
bool posix_kernel_text(struct buf *text, const char *format, ...) JW_PRINTF(2, 3);
/* Returns whether root is just one account of the machine, by the text of /proc/self/uid_map
 * (user_namespaces(7)): a user namespace that an account has made for itself maps root alone to it
 * (“0 1000 1”; rootless Podman adds a line with other ids). In a namespace with more ids on root's
 * line, other accounts live beside root, which therefore keeps its door. So does root that is
 * mapped to root. False for a text of another form. */
bool posix_root_is_account(const char *map);
/* Begins and ends reading the system's lists of accounts and groups (getpwent, getgrent, getpwnam
 * …), of which the process has one iterator and one result: one thread at a time. Not twice in one
 * thread. */
void posix_lists_begin(void);
void posix_lists_end(void);
/* Writes the path by which the kernel has opened the file. False without /proc, and if that path is
 * longer than PATH_MAX or not below this process's root. */
bool posix_real_path(int fd, char ret_path[PATH_MAX]);
void posix_stat_of(const struct stat *from, struct os_stat *to);
