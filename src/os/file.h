/* Files and directories. Paths are UTF-8; on Windows they may be longer than 260 characters and are
 * converted to UTF-16 for the system. Every message names the path and the system's reason.
 *
 * The superuser, and an administrator of Windows, write through no link that others may have put
 * at a path's end, to no device or pipe, and into no file with a second name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* From here on no call that changes something follows a link below `folder`, whoever made it:
 * JW_ERR_IO. `reads`: nor do those that open a file or tell what it is. For a whole process, which
 * calls it before it starts threads; on Windows it changes nothing. */
void os_follow_none_below(const char *folder, bool reads);

enum os_kind {
	OS_REGULAR,
	OS_DIRECTORY,
	OS_PIPE,   /* this and the next one only from os_stat on POSIX; os_list calls both OS_OTHER */
	OS_DEVICE, /* not a disk */
	OS_OTHER,
};

/* Identifies a file and shows whether it has changed. */
struct os_stat {
	enum os_kind kind;
	uint64_t size_bytes;
	int64_t mtime_ns;   /* since 1970-01-01 UTC */
	int64_t changed_ns; /* the last change of content or attributes, which programs cannot set; 0 if
						   the system does not tell */
	uint64_t device, inode;
	uint32_t mode;         /* POSIX permission bits; on Windows 0600, or 0400 if read-only */
	uint32_t owner, group; /* POSIX ids; 0 on Windows */
};

/* Follows links. JW_ERR_NOT_FOUND if there is no such path, JW_ERR_IO otherwise. */
int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat);
/* Whether there is such a path; -1 where that cannot be told. */
int os_check_exists(struct jw_error *err, const char *path, bool *ret_there);
/* The same where a wrong no does no harm: it is the answer where the truth cannot be told. */
bool os_exists(const char *path);
/* Whether this account has not the right to read that file, or to list that folder. */
bool os_is_denied(const char *path);
/* After a file could not be read, or a folder not be listed: 0 if it holds nothing for this
 * account, since it is missing, may not be read, is of another kind or too large. Any other reason
 * (no memory, a bad disk) says nothing about it, and is copied. */
int os_ignore_unreadable(struct jw_error *err, const char *path, const struct jw_error *why);
/* Whether it was last written more than this long ago. */
bool os_is_older(const char *path, int64_t seconds);

/* Identifies the file or directory at a path. A later one has another number, even if the first is
 * gone, since the number includes the time of creation. 0 if there is none, OS_UNIDENTIFIED if the
 * system does not tell (old file systems, some network ones). */
#define OS_UNIDENTIFIED UINT64_MAX
uint64_t os_identity(const char *path);

/* A regular file mapped for reading. An empty file has data == "" and size 0. Directories, devices
 * and pipes are refused with JW_ERR_UNSUPPORTED. If another process shortens the file while it is
 * mapped, this process ends (SIGBUS), as does any reader that maps. */
struct os_map {
	const uint8_t *data;
	size_t size;
	void *handle; /* private */
	struct os_stat stat;
};

int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map);
void os_map_close(struct os_map *map);
/* Tells the system that [offset, offset + size) is not needed soon, for less resident memory */
void os_map_forget(const struct os_map *map, size_t offset, size_t size);

/* Reads the whole file, at most `most` bytes (else JW_ERR_LIMIT). Sets buf's maximum. */
int os_read_file(struct jw_error *err, const char *path, size_t most, struct buf *ret_content);

/* Reads the first bytes of a file, at most `size`; returns their number, 0 if it cannot be read. */
size_t os_read_head(const char *path, void *bytes, size_t size);

/* Writes a new file beside `path` and renames it into place: readers see the old content or the new
 * one, never a part. If `path` is a link, its target is replaced. A target that is not a regular
 * file (a device, a pipe) is JW_ERR_UNSUPPORTED. */
int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size);

/* The same for a file that only this account may read (0600; on Windows the folder's rights apply).
 * This and all below are for what cannot be made again: the bytes are on disk before the name */
int os_write_secret(struct jw_error *err, const char *path, const void *data, size_t size);

/* The same for a file with exactly this mode, independent of the umask. */
int os_write_mode(struct jw_error *err, const char *path, const void *data, size_t size,
				  uint32_t mode);

/* The same for what a user named. */
int os_write_output(struct jw_error *err, const char *path, const void *data, size_t size);

/* The path that these functions replace: `path`, or its link's target. JW_ERR_UNSUPPORTED if that
 * is not a regular file. The caller frees it. */
int os_replaceable(struct jw_error *err, const char *path, char **ret_real);

/* How the name of a file begins that is written beside `path`, to take its place: OS_MADE_FORM or
 * hexadecimal digits follow. Users give no file such a name. The caller frees it. */
char *os_beside(const char *path);
/* Removes those that killed runs have left: that of a living one is younger than OS_LEFT_S. */
void os_sweep_beside(const char *path, int64_t older_s);
enum { OS_LEFT_S = 3600 };

/* The same, keeping the rights of an existing file (os_copy_rights; not on Windows). */
int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size);

/* The same; a new file gets exactly this mode, independent of the umask. */
int os_rewrite_mode(struct jw_error *err, const char *path, const void *data, size_t size,
					uint32_t mode);

/* An open file, written in place. */
struct os_file;
enum os_open {
	OS_OPEN_READ,   /* must exist */
	OS_OPEN_UPDATE, /* read and write, must exist */
	OS_OPEN_CREATE, /* read and write, created if missing with mode 0666 less umask */
};
int os_file_open(struct jw_error *err, const char *path, enum os_open how,
				 struct os_file **ret_file);
/* A new file that only this account may use (0600; on Windows the folder's rights apply), named
 * `path`, a dot and six letters. The caller frees the name. */
int os_file_make(struct jw_error *err, const char *path, struct os_file **ret_file,
				 char **ret_name);
int os_file_stat(struct jw_error *err, struct os_file *file, struct os_stat *ret_stat);
int os_file_size(struct jw_error *err, struct os_file *file, uint64_t *ret_size);
/* Reads up to `size` bytes at `offset`; *ret_got is smaller only at the end of the file. */
int os_file_read(struct jw_error *err, struct os_file *file, uint64_t offset, void *data,
				 size_t size, size_t *ret_got);
int os_file_write(struct jw_error *err, struct os_file *file, uint64_t offset, const void *data,
				  size_t size);
/* Copies the first `size` bytes of `from` to the start of `to`, which was just created. Where the
 * file system can, the copy shares the original's blocks until either is written to. */
int os_file_copy(struct jw_error *err, struct os_file *from, struct os_file *to, uint64_t size);
int os_file_truncate(struct jw_error *err, struct os_file *file, uint64_t size);
/* Waits until its bytes are on disk. */
int os_file_sync(struct jw_error *err, struct os_file *file);
void os_file_close(struct os_file *file);
int os_file_descriptor(const struct os_file *file);
/* Waits until the names in a path's directory are on disk too, where the system can do that. */
void os_sync_names(const char *path);

/* Locks the whole file as the driver does: fcntl(F_SETLK) on POSIX, LockFileEx without waiting on
 * Windows. *ret_held is false if another process holds the lock. On POSIX, closing any handle of
 * this process to the file releases it. */
int os_file_lock(struct jw_error *err, struct os_file *file, bool exclusive, bool *ret_held);
int os_file_unlock(struct jw_error *err, struct os_file *file);
/* Opens and locks a file of jitwarm's own, which is made where it is not there; others may hold it
 * for so long. *ret_lock is NULL on a file system without locks. JW_ERR_BUSY. */
int os_lock_file(struct jw_error *err, const char *path, unsigned most_ms,
				 struct os_file **ret_lock);

/* A directory's names, without "." and "..", sorted by bytes. */
struct os_names {
	char **items;
	enum os_kind *kinds; /* of a link's target; OS_OTHER if that is gone */
	size_t count;
};
int os_list(struct jw_error *err, const char *path, struct os_names *ret_names);
void os_names_free(struct os_names *names);
/* The same of the names that are wanted (NULL: all), and as os_stat, of the folder itself. */
int os_list_wanted(struct jw_error *err, const char *path,
				   bool (*wanted)(const char *name, enum os_kind kind), struct os_stat *ret_stat,
				   struct os_names *ret_names);
/* Calls `take` for each name in a directory with what it is itself: a link is OS_OTHER, whatever it
 * leads to; nor is a link at the end of `path` followed on POSIX. Fills in the kind and
 * the device. A return other than 0 of `take` ends it, and is returned. */
int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context);

/* Makes a directory and the levels above it; an existing one is fine. `mode` is before umask. */
int os_make_dirs(struct jw_error *err, const char *path, uint32_t mode);
/* The same for the directory of a file. */
int os_make_parent(struct jw_error *err, const char *path, uint32_t mode);
/* The same two; each new level gets exactly this mode, independent of the umask. */
int os_make_shared_dirs(struct jw_error *err, const char *path, uint32_t mode);
int os_make_shared_parent(struct jw_error *err, const char *path, uint32_t mode);
/* Removes a directory if it is empty. */
int os_remove_empty_dir(struct jw_error *err, const char *path);
/* Removes a file. A missing one is fine. */
int os_remove(struct jw_error *err, const char *path);
/* Removes a directory with everything below it, never following links. A missing one is fine. */
int os_remove_tree(struct jw_error *err, const char *path);
/* Removes leftovers: items of this kind in `folder` whose name is `prefix` and then as `form` says
 * (text_has_form), and that are older than `older_s` (0: of any age). What others keep there has
 * other names. Ignores failures: the next run tries again. */
void os_sweep(const char *folder, const char *prefix, const char *form, enum os_kind kind,
			  int64_t older_s);
/* What os_file_make and os_write_atomic put behind a name. */
#define OS_MADE_FORM ".??????"
int os_rename(struct jw_error *err, const char *from, const char *to);
/* Sets POSIX permission bits, independent of the umask (does nothing on Windows). */
int os_set_mode(struct jw_error *err, const char *path, uint32_t mode);
/* Gives a file what `from` has: owner, permission bits, access list, and the attributes that users
 * set; on Windows the access list. -1: they cannot all be given. */
int os_copy_rights(struct jw_error *err, const char *from, const char *to);

/* The absolute path without links; the caller frees it. */
int os_real_path(struct jw_error *err, const char *path, char **ret_path);
bool os_is_absolute(const char *path);
/* How much this account may still write at `path`: on Linux without regard to quotas. */
struct os_space {
	uint64_t free_bytes;
	uint64_t free_files; /* UINT64_MAX if there is no such limit, and on Windows */
	bool network;        /* a network file system */
};
int os_space(struct jw_error *err, const char *path, struct os_space *ret_space);

/* Whether this thread could make files in a folder, or read and write a file, as far as the system
 * tells without trying; not in a folder of a pseudo file system. JW_ERR_NOT_FOUND if there is no
 * such path; a dangling link is JW_ERR_IO, since nothing can be made there either. */
int os_may_write(struct jw_error *err, const char *path);
/* The same for a folder that may be missing, with levels above it. */
int os_may_make(struct jw_error *err, const char *path);

/* Whether it is on a pseudo file system (/proc, /sys): links there may lead anywhere and in
 * circles, and files have no size or a wrong one. */
bool os_is_made_up(const char *path);

/* Whether no other account could replace what is there, or the nearest folder above it
 * (os_check_private). True for all but the superuser and administrators. */
bool os_is_private(const char *path);

/* Whether files there are lost at a restart, according to the file system. */
bool os_is_volatile(const char *path);

/* Whether it lies in a profile that Windows copies from machine to machine (a roaming one). */
bool os_is_roaming(const char *path);

/* "a" and "b" as one path; the caller frees it. */
char *os_join(const char *a, const char *b);
/* The part after the last separator: a pointer into `path`. */
const char *os_base_name(const char *path);
/* Everything before the last separator ("." if there is none, the root for something in the root);
 * the caller frees it. */
char *os_dir_name(const char *path);
/* `path`, or its nearest existing parent (the topmost one if none exists); the caller frees it. */
char *os_nearest(const char *path);
/* JW_ERR_USAGE: `path`, or its nearest existing parent, is no folder. Unseen ones may be. */
int os_may_be_folder(struct jw_error *err, const char *path);

/* The separators: '/' and, on Windows, '\\' too. ':' or ';' separates paths in a list. */
bool os_is_separator(char c);
extern const char os_separator;
extern const char os_list_separator;
/* Bytes at the start that name the root ("/", "C:\\", "\\\\server\\share\\"); 0: relative */
size_t os_root_length(const char *path);

/* Whether other accounts could replace a program, or a library, that will run with more rights than
 * theirs. */

/* 0 if nobody but the superuser and the account `owner` (a number; 0: nobody else) can change the
 * file at `path` or make the path lead elsewhere, as owners and permissions of the file, of each
 * folder on the way, and of each link tell. A group's permission to write counts as others', unless
 * it is root's group. `lasting`: it must hold after files have been deleted as well, so that a
 * folder for everyone with the sticky bit (/tmp) is refused.
 *
 * On Windows the access lists decide: administrators, the system, its installer and whoever owns
 * the system's own folder may write; `owner` and `lasting` mean nothing.
 *
 * JW_ERR_IO with the reason, which names the folder or file, also where something
 * cannot be looked at. */
int os_check_private(struct jw_error *err, const char *path, uint32_t owner, bool lasting);
