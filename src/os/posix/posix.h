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
/* Begins and ends reading the system's lists of accounts and groups (getpwent, getgrent, getpwnam
 * …), of which the process has one iterator and one result: one thread at a time. Not twice in one
 * thread. */
void posix_lists_begin(void);
void posix_lists_end(void);
/* Returns whether an account is neither the superuser nor counts as it. */
bool posix_is_stranger(uint32_t account);
/* Writes the path by which the kernel has opened the file. False without /proc, and if that path is
 * longer than PATH_MAX or not below this process's root. */
bool posix_real_path(int fd, char ret_path[PATH_MAX]);
struct os_stranger;
/* Returns whether such an account can change the folder at `path`, whose owner and mode `stat` has;
 * only the folder itself is examined. With `lasting`, a folder such as /tmp counts, too. */
bool posix_finds_stranger(const char *path, const struct stat *stat, bool lasting,
						  struct os_stranger *ret_stranger);
/* Returns whether root has opened a file or folder for an account that cannot read it: the account
 * could have made a symlink in the path, or have put the file there, and has not the permissions to
 * read it. Describes it in `err`. False for other accounts than root. Any thread may call it. */
bool posix_read_for_other(struct jw_error *err, int fd, const char *path);
/* Describes what has that name, with AT_SYMLINK_NOFOLLOW not a link's target, by device, inode,
 * mode and owner, without a question to a FUSE file system that is mounted there, which may never
 * answer. *ret_mounted is false on Linux before 5.8. */
bool posix_stat_unasked(int folder, const char *name, int flags, struct stat *ret_stat,
						bool *ret_mounted);
void posix_stat_of(const struct stat *from, struct os_stat *to);
