/* Files and directories. Paths are UTF-8; on Windows they may be longer than 260 characters and are
 * turned into UTF-16 at the system's door. Every message names the path and the system's reason.
 *
 * The superuser of a POSIX system has, in another account's directory, that account's rights alone:
 * every function here that takes a path sees to it (os/posix/at.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum os_kind {
	OS_REGULAR,
	OS_DIRECTORY,
	OS_PIPE, /* by os_stat on POSIX alone, as is the next; os_list calls both OS_OTHER */
	OS_DEVICE,
	OS_OTHER,
};

/* What identifies a file and tells whether it has changed. */
struct os_stat {
	enum os_kind kind;
	uint64_t size_bytes;
	int64_t mtime_ns;   /* since 1970-01-01 UTC */
	int64_t changed_ns; /* the last change of content or attributes, which no program sets; 0 where
						   the system does not tell */
	uint64_t device, inode;
	uint32_t mode;         /* POSIX permission bits; on Windows 0600, or 0400 where read-only */
	uint32_t owner, group; /* POSIX ids; 0 on Windows */
};

/* Follows links. JW_ERR_NOT_FOUND where there is nothing, JW_ERR_IO otherwise. */
int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat);
bool os_exists(const char *path);
/* Written more than this long ago. */
bool os_is_older(const char *path, int64_t seconds);

/* Identifies the file or directory at a path. One that was made later has another number, even if
 * the first is gone, since the number includes the time of creation. 0 where there is nothing,
 * OS_UNIDENTIFIED where the system does not tell (old file systems, some networks'). */
#define OS_UNIDENTIFIED UINT64_MAX
uint64_t os_identity(const char *path);

/* A regular file mapped for reading. An empty file has data == "" and size 0. Directories, devices
 * and pipes are refused with JW_ERR_UNSUPPORTED. A file that another process
 * shortens while it is mapped ends this process (SIGBUS), as it does any reader that maps. */
struct os_map {
	const uint8_t *data;
	size_t size;
	void *handle; /* private */
	struct os_stat stat;
};

int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map);
void os_map_close(struct os_map *map);
/* Tells the system that [offset, offset + size) will not be needed again soon, so that resident
 * memory stays small. */
void os_map_forget(const struct os_map *map, size_t offset, size_t size);

/* The whole file, at most `most` bytes (else JW_ERR_LIMIT). buf's maximum is set by this call; the
 * caller frees it. */
int os_read_file(struct jw_error *err, const char *path, size_t most, struct buf *ret_content);

/* The first bytes of a file, at most `size`; returns how many there are, 0 where it cannot be read.
 */
size_t os_read_head(const char *path, void *bytes, size_t size);

/* Writes a new file beside `path` and renames it into place: readers see the old content or the new
 * one, never less. Where `path` is a link, its target is replaced; what is no regular file (a
 * device, a pipe) is not, which is JW_ERR_UNSUPPORTED. */
int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size);

/* The same for a file that only this account may read (0600; on Windows the folder decides). */
int os_write_secret(struct jw_error *err, const char *path, const void *data, size_t size);

/* The same for a file with just this mode, whatever the umask is. */
int os_write_mode(struct jw_error *err, const char *path, const void *data, size_t size,
				  uint32_t mode);

/* The path that these replace: `path`, or what it links to. JW_ERR_UNSUPPORTED where that is no
 * regular file. The caller frees it. */
int os_replaceable(struct jw_error *err, const char *path, char **ret_real);

/* The same, keeping the permissions and owner of a file that is there. */
int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size);

/* The same; a new file gets just this mode, whatever the umask is. */
int os_rewrite_mode(struct jw_error *err, const char *path, const void *data, size_t size,
					uint32_t mode);

/* An open file, which is written in place. */
struct os_file;
enum os_open {
	OS_OPEN_READ,   /* must exist */
	OS_OPEN_UPDATE, /* read and write, must exist */
	OS_OPEN_CREATE, /* read and write, created if missing with mode 0666 less umask */
};
int os_file_open(struct jw_error *err, const char *path, enum os_open how,
				 struct os_file **ret_file);
int os_file_stat(struct jw_error *err, struct os_file *file, struct os_stat *ret_stat);
int os_file_size(struct jw_error *err, struct os_file *file, uint64_t *ret_size);
/* Reads up to `size` bytes at `offset`; *ret_got is less only at the end of the file. */
int os_file_read(struct jw_error *err, struct os_file *file, uint64_t offset, void *data,
				 size_t size, size_t *ret_got);
int os_file_write(struct jw_error *err, struct os_file *file, uint64_t offset, const void *data,
				  size_t size);
int os_file_truncate(struct jw_error *err, struct os_file *file, uint64_t size);
/* The time of the last write, as os_stat tells it; further writing changes it. */
int os_file_set_mtime(struct jw_error *err, struct os_file *file, int64_t mtime_ns);
/* Waits until its bytes are on the disk. */
int os_file_sync(struct jw_error *err, struct os_file *file);
void os_file_close(struct os_file *file);

/* A lock on the whole file as the driver takes it: fcntl(F_SETLK) on POSIX, LockFileEx without
 * waiting on Windows. *ret_held is false if another process holds it. Closing any handle of this
 * process to the file lets go of it on POSIX. */
int os_file_lock(struct jw_error *err, struct os_file *file, bool exclusive, bool *ret_held);
int os_file_unlock(struct jw_error *err, struct os_file *file);

/* Moves a file that another process has made, and opens it for reading, if that is as good as a
 * copy: it has no other name, no process has it open for writing any more, and over there it would
 * have got the same rights. NULL, and it is where it was, wherever one of these is not so or cannot
 * be told; on Windows always, since a file keeps the rights that its first folder gave it. */
struct os_file *os_file_take(const char *from, const char *to);

/* A directory's names, without "." and "..", sorted by bytes. */
struct os_names {
	char **items;
	enum os_kind *kinds; /* of what a link points to; OS_OTHER where that is gone */
	size_t count;
};
int os_list(struct jw_error *err, const char *path, struct os_names *ret_names);
void os_names_free(struct os_names *names);

/* Makes a directory and the levels above it; one that is there is fine. `mode` is before umask. */
int os_make_dirs(struct jw_error *err, const char *path, uint32_t mode);
/* The same for the directory of a file. */
int os_make_parent(struct jw_error *err, const char *path, uint32_t mode);
/* The same, each new level with just this mode, whatever the umask is. */
int os_make_shared_dirs(struct jw_error *err, const char *path, uint32_t mode);
/* Removes a directory if nothing is in it. */
int os_remove_empty_dir(struct jw_error *err, const char *path);
/* Removes a file. One that is not there is fine. */
int os_remove(struct jw_error *err, const char *path);
/* Removes a directory with everything below it, never following links. One that is not there is
 * fine. */
int os_remove_tree(struct jw_error *err, const char *path);
/* Removes leftovers: what is of this kind in `folder`, has a name that begins with `prefix`, and is
 * older than `older_s` (0: of any age). A failure is no error: the next run tries again. */
void os_sweep(const char *folder, const char *prefix, enum os_kind kind, int64_t older_s);
int os_rename(struct jw_error *err, const char *from, const char *to);
/* Sets POSIX permission bits, whatever the umask is (nothing to do on Windows). */
int os_set_mode(struct jw_error *err, const char *path, uint32_t mode);
/* Gives a file or directory to another account (POSIX; nothing to do on Windows). */
int os_set_owner(struct jw_error *err, const char *path, uint32_t owner, uint32_t group);

/* The absolute path without links; the caller frees it. */
int os_real_path(struct jw_error *err, const char *path, char **ret_path);
bool os_is_absolute(const char *path);
/* How much this account may still write where `path` is: as much as the file system has, or as the
 * account's quota leaves, whichever is less. */
struct os_space {
	uint64_t free_bytes;
	uint64_t free_files;    /* UINT64_MAX where there is no such limit, and on Windows */
	bool quota, file_quota; /* it is the quota that leaves so little */
	bool network;           /* a network file system, whose server does not report its quota */
};
int os_space(struct jw_error *err, const char *path, struct os_space *ret_space);

/* Whether this thread could make files in a folder, or read and write a file, as far as the system
 * tells without its trying. JW_ERR_NOT_FOUND where there is nothing; a link that leads nowhere is
 * JW_ERR_IO, since nothing can be made there either. */
int os_may_write(struct jw_error *err, const char *path);
/* The same of a folder that may have to be made first, with levels above it. */
int os_may_make(struct jw_error *err, const char *path);

/* Whether it is on a file system that the kernel makes up (/proc, /sys): links there lead anywhere
 * and back, and files have no size or one that is not true. */
bool os_is_made_up(const char *path);

/* Whether no other account could make this path lead elsewhere, as far as the owners of all its
 * folders tell. True for all but the superuser, and on Windows. */
bool os_is_private(const char *path);

/* Whether files there are gone after a restart, as far as the file system tells. */
bool os_is_volatile(const char *path);

/* Whether it lies in a profile that Windows copies from machine to machine (a roaming one). */
bool os_is_roaming(const char *path);

/* "a" and "b" as one path; the caller frees it. */
char *os_join(struct jw_error *err, const char *a, const char *b);
/* The part behind the last separator: a pointer into `path`. */
const char *os_base_name(const char *path);
/* Everything before the last separator ("." where there is none, the root for something in the
 * root); the caller frees it. */
char *os_dir_name(struct jw_error *err, const char *path);
/* `path`, or the nearest folder above it that is there (the topmost one where none is); the caller
 * frees it. */
char *os_nearest(struct jw_error *err, const char *path);

/* The separators: '/' and, on Windows, '\\' too. ':' or ';' between the members of a list of paths.
 */
bool os_is_separator(char c);
extern const char os_separator;
extern const char os_list_separator;
/* Bytes at the start that name the root ("/", "C:\\", "\\\\server\\share\\"); 0 for a relative
 * path. */
size_t os_root_length(const char *path);
