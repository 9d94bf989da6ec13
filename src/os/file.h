/* Files and directories. Paths are UTF-8; on Windows they may be longer than 260 characters and are
 * converted to UTF-16 for the system. Every message names the path and the system's reason. No
 * device or pipe is opened. An administrator of Windows never writes through a link at a path's
 * end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/error.h"

enum os_kind {
	OS_REGULAR,
	OS_DIRECTORY,
	OS_PIPE, /* only os_stat on POSIX returns this value and the next one; os_list returns OS_OTHER
				for both */
	OS_DEVICE, /* not a disk */
	OS_OTHER,
};

/* Identifies a file and shows whether it has changed. */
struct os_stat {
	enum os_kind kind;
	uint64_t size_bytes;
	int64_t mtime_ns;   /* since 1970-01-01 UTC */
	int64_t changed_ns; /* the last change of content or attributes, which programs cannot set; 0 if
						   the system does not report it */
	uint64_t device, inode;
	uint32_t mode;         /* POSIX permission bits; on Windows 0600, or 0400 if read-only */
	uint32_t owner, group; /* POSIX ids; 0 on Windows */
	uint64_t names;        /* the number of names (hard links) of a file; 1 on Windows */
};

/* Follows links. JW_ERR_NOT_FOUND if there is no such path, JW_ERR_IO otherwise. */
int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat);
/* Finds out whether a path exists; -1 if that cannot be found out. */
int os_check_exists(struct jw_error *err, const char *path, bool *ret_there);
/* Returns whether a path exists; false if that cannot be found out. For callers to whom a wrong
 * “no” does no harm. */
bool os_exists(const char *path);
/* Returns whether this account lacks the right to read that file, or to list that folder. */
bool os_is_denied(const char *path);
/* For the error of reading a file or listing a folder: returns 0 if this account simply has nothing
 * there, because it is missing, may not be read, is of another kind or too large. Copies any other
 * error (a bad disk), which says nothing about the content. */
int os_ignore_unreadable(struct jw_error *err, const char *path, const struct jw_error *why);
/* Returns whether the file was last written more than this many seconds ago. */
bool os_is_older(const char *path, int64_t seconds);

/* A regular file mapped for reading. An empty file has data == "" and size 0. Directories, devices
 * and pipes are refused with JW_ERR_UNSUPPORTED. If another process shortens the file while it is
 * mapped, reading ends the process (os_on_cut_file).
 *
 * The bytes are those that the file has now: whoever may write to it can change them between any
 * two reads, also to attack a superuser who reads it. So code that reads a mapping keeps this rule:
 *
 * - A header is copied once into local variables (base/cursor.h), then the copy is checked, then
 *   the copy is used. Code that comes back to the header checks it again: what was true of the
 *   bytes before proves nothing.
 * - A string is copied before it is checked. A NUL that was found may be gone: after that, only the
 *   length counts.
 * - Other libraries (decoders, libarchive) get copies (stream_peek_copy, devcode_payload).
 * - If copying everything is cheap, the file is read (os_read_file), not mapped. */
struct os_map {
	const uint8_t *data;
	size_t size;
	void *handle; /* private */
	struct os_stat stat;
};

/* JW_ERR_LIMIT for a file of more than 64 GiB. */
int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map);
void os_map_close(struct os_map *map);
/* Calls `report` in the thread that reads a mapped file whose bytes are gone: another process has
 * shortened it, or its disk fails. `report` ends the process. Windows lets nobody shorten a mapped
 * file. */
void os_on_cut_file(void (*report)(const char *path));
/* Tells the system that [offset, offset + size) is not needed soon, which reduces resident
 * memory. */
void os_map_forget(const struct os_map *map, size_t offset, size_t size);

/* Reads the whole file, at most `most` bytes (else JW_ERR_LIMIT). Sets buf's maximum. */
int os_read_file(struct jw_error *err, const char *path, size_t most, struct buf *ret_content);

/* Reads an open descriptor to its end: standard input, or a pipe that the shell has opened. */
int os_read_descriptor(struct jw_error *err, int fd, size_t most, struct buf *ret_content);

/* Reads the first bytes of a file, at most `size`; returns their number, 0 if it cannot be read. */
size_t os_read_head(const char *path, void *bytes, size_t size);

/* Writes a new file beside `path` and renames it into place: readers see the old content or the new
 * one, never a part. If `path` is a link, its target is replaced. A target that is not a regular
 * file (a device, a pipe) is JW_ERR_UNSUPPORTED. */
int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size);

/* Writes a file with exactly this mode, independent of the umask (on Windows the folder's rights
 * apply). This function and all below are for content that cannot be made again: the bytes are on
 * disk before the name is. */
int os_write_mode(struct jw_error *err, const char *path, const void *data, size_t size,
				  uint32_t mode);

/* Writes a file that a user named on the command line. */
int os_write_output(struct jw_error *err, const char *path, const void *data, size_t size);

/* Finds the path that these functions replace: `path`, or its link's target. JW_ERR_UNSUPPORTED if
 * that is not a regular file. The caller frees it. */
int os_replaceable(struct jw_error *err, const char *path, char **ret_real);

/* Returns the beginning of the names of temporary files that are written beside `path` and then
 * renamed to it; OS_MADE_FORM or hexadecimal digits follow. Users give no file such a name. The
 * caller frees it. */
char *os_beside_start(const char *path);
/* Removes the temporary files beside `path` that killed runs have left; those of running processes
 * are younger than OS_LEFT_S. */
void os_sweep_beside(const char *path, int64_t older_s);
enum { OS_LEFT_S = 3600, OS_WRITTEN_S = 10 }; /* the latter for files that are written at once */
/* Removes those whose writer, which locks its file within a second, has ended; without locks, as
 * os_sweep_beside. */
void os_sweep_unlocked(const char *path);

/* Replaces a file and keeps the rights of the existing one: owner, permission bits, access list,
 * and the attributes that users set. -1 if one of them cannot be set. Not on Windows. */
int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size);

/* Replaces a file and keeps its rights; a new file gets exactly this mode, independent of the
 * umask. */
int os_rewrite_mode(struct jw_error *err, const char *path, const void *data, size_t size,
					uint32_t mode);

/* Makes an empty file, and follows no link. -1 if the name exists. */
int os_make_new(struct jw_error *err, const char *path);

/* An open file, written in place. */
struct os_file;
enum os_open {
	OS_OPEN_READ,   /* must exist */
	OS_OPEN_UPDATE, /* read and write, must exist */
	OS_OPEN_CREATE, /* read and write; created if missing, with mode 0666 less umask */
	OS_OPEN_APPEND, /* read and write, must exist; on POSIX each write goes to the end */
	OS_OPEN_LOCK, /* as OS_OPEN_CREATE, but only who may write to the file may read it: readers can
					 lock */
};
int os_file_open(struct jw_error *err, const char *path, enum os_open how,
				 struct os_file **ret_file);
int os_file_stat(struct jw_error *err, struct os_file *file, struct os_stat *ret_stat);
int os_file_size(struct jw_error *err, struct os_file *file, uint64_t *ret_size);
/* Reads up to `size` bytes at `offset`; *ret_got is smaller only at the end of the file. */
int os_file_read(struct jw_error *err, struct os_file *file, uint64_t offset, void *data,
				 size_t size, size_t *ret_got);
int os_file_write(struct jw_error *err, struct os_file *file, uint64_t offset, const void *data,
				  size_t size);
int os_file_truncate(struct jw_error *err, struct os_file *file, uint64_t size);
/* Waits until the file's bytes are on disk. */
int os_file_sync(struct jw_error *err, struct os_file *file);
void os_file_close(struct os_file *file); /* may be NULL; releases the lock, if it is held */
/* Waits until the names in a path's directory are on disk, too, if the system can do that. */
void os_sync_names(const char *path);

/* Locks the whole file as the driver does: fcntl(F_SETLK) on POSIX, LockFileEx without waiting on
 * Windows. *ret_held is false if another process holds the lock. On POSIX, closing any handle of
 * this process to the file releases the lock. */
int os_file_lock(struct jw_error *err, struct os_file *file, bool exclusive, bool *ret_held);
int os_file_unlock(struct jw_error *err, struct os_file *file);
/* Locks the file, waiting for other holders for a while: JW_ERR_BUSY. Ctrl-C ends the wait soon:
 * JW_ERR_INTERRUPTED. A wait that begins after Ctrl-C still outlasts a driver's hold. *ret_no_locks
 * is set, and 0 returned, on a file system without locks. */
int os_file_wait_lock(struct jw_error *err, struct os_file *file, const char *path,
					  unsigned most_ms, struct jw_error *ret_no_locks);
/* Opens one of jitwarm's locks (OS_OPEN_LOCK), and locks it as os_file_wait_lock does. *ret_lock is
 * NULL on a file system without locks. */
int os_lock_file(struct jw_error *err, const char *path, unsigned most_ms,
				 struct os_file **ret_lock);

/* The names in a directory, without "." and "..", sorted by bytes. */
struct os_names {
	char **items;
	enum os_kind *kinds; /* the kind of each name; of a link, its target's kind, or OS_OTHER if the
							target is missing */
	size_t count;
};
int os_list(struct jw_error *err, const char *path, struct os_names *ret_names);
void os_names_free(struct os_names *names);
/* Lists only the names that `wanted` accepts (NULL: all), and describes the folder itself as
 * os_stat does. */
int os_list_wanted(struct jw_error *err, const char *path,
				   bool (*wanted)(const char *name, enum os_kind kind), struct os_stat *ret_stat,
				   struct os_names *ret_names);
/* Lists the names that begin with `prefix`, each with its own kind: a link is OS_OTHER. The system
 * is asked about no other name, and about no link's target. */
int os_list_unfollowed(struct jw_error *err, const char *path, const char *prefix,
					   struct os_names *ret_names);
/* Calls `take` for each name in a directory with its own kind: a link is OS_OTHER, whatever it
 * leads to, and on POSIX a link at the end of `path` is not followed. Fills in the kind and the
 * device. If `take` returns another value than 0, the walk ends and returns it. */
int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context);

/* Makes a directory and the levels above it; an existing one is fine. `mode` is before umask. */
int os_make_dirs(struct jw_error *err, const char *path, uint32_t mode);
/* Makes the directory of a file. */
int os_make_parent(struct jw_error *err, const char *path, uint32_t mode);
/* These two give each new level exactly this mode, independent of the umask. */
int os_make_shared_dirs(struct jw_error *err, const char *path, uint32_t mode);
int os_make_shared_parent(struct jw_error *err, const char *path, uint32_t mode);
/* Removes a directory if it is empty. */
int os_remove_empty_dir(struct jw_error *err, const char *path);
/* Removes a file; a missing file is no error. */
int os_remove(struct jw_error *err, const char *path);
/* Removes a directory with everything below it, and follows no links. A missing directory is no
 * error. */
int os_remove_tree(struct jw_error *err, const char *path);
/* Removes leftovers: items of this kind in `folder` whose name is `prefix` followed by `form`
 * (text_has_form), and that are older than `older_s` (0: of any age). Other files there have other
 * names. Ignores failures: the next run tries again. */
void os_sweep(const char *folder, const char *prefix, const char *form, enum os_kind kind,
			  int64_t older_s);
/* The form of what os_write_atomic appends to a name. */
#define OS_MADE_FORM ".??????"
int os_rename(struct jw_error *err, const char *from, const char *to);
/* Sets POSIX permission bits, independent of the umask (does nothing on Windows). */
int os_set_mode(struct jw_error *err, const char *path, uint32_t mode);
/* Returns the umask (0 on Windows). Other accounts may not write to the superuser's new files. */
uint32_t os_creation_mask(void);

/* Finds the absolute path without links; the caller frees it. */
int os_real_path(struct jw_error *err, const char *path, char **ret_path);
bool os_is_absolute(const char *path);
/* The space that this account can still use at `path`; on Linux, quotas are ignored. */
struct os_space {
	uint64_t free_bytes;
	uint64_t free_files; /* UINT64_MAX if there is no such limit, and on Windows */
	bool network;        /* a network file system */
};
int os_space(struct jw_error *err, const char *path, struct os_space *ret_space);

/* Fails if this thread could not make files in the folder, or read and write the file, as far as
 * the system reports that without a trial; always in a pseudo file system. JW_ERR_NOT_FOUND: there
 * is no such path. JW_ERR_IO: also a dangling link, since nothing can be made there either. */
int os_may_write(struct jw_error *err, const char *path);
/* Fails like os_may_write, for a folder that may be missing, together with levels above it. */
int os_may_make(struct jw_error *err, const char *path);

/* Returns whether the path is on a pseudo file system (/proc, /sys), where links may lead anywhere
 * and in circles, and files have no size or a wrong one. */
bool os_is_made_up(const char *path);

/* With what files at the path are lost, according to the file system and the environment. */
enum os_loss {
	OS_STAYS,
	OS_LOST_AT_RESTART,
	OS_LOST_WITH_CONTAINER, /* they are in its own layer */
	OS_LOST_WITH_POD,       /* an emptyDir volume of Kubernetes */
	OS_LOST_WITH_JOB,       /* the folder that a batch system or a CI runner makes for a job */
};
enum os_loss os_loss(const char *path);
/* Returns whether the path is in a file system that is mounted to be read alone: an image. */
bool os_is_read_only(const char *path);

/* Returns whether the path lies in a profile that Windows copies from machine to machine (a roaming
 * one). */
bool os_is_roaming(const char *path);

/* Joins "a" and "b" to one path; the caller frees it. */
char *os_join(const char *a, const char *b);
/* Returns the part after the last separator, a pointer into `path`. */
const char *os_base_name(const char *path);
/* Returns everything before the last separator ("." if there is none, the root for something in the
 * root); the caller frees it. */
char *os_dir_name(const char *path);
/* Makes a path absolute, and removes separators at its end: so a directory has one name, by which
 * remembered facts are found. Follows no symlink in it. The caller frees it. */
int os_absolute(struct jw_error *err, const char *path, char **ret_path);
/* Returns `path`, or its nearest existing parent (the topmost one if none exists); the caller frees
 * it. */
char *os_nearest(const char *path);
/* JW_ERR_USAGE if `path`, or its nearest existing parent, is not a folder. A path that cannot be
 * examined passes. */
int os_may_be_folder(struct jw_error *err, const char *path);

/* The separators: '/' and, on Windows, '\\' too. ':' or ';' separates paths in a list. */
bool os_is_separator(char c);
extern const char os_separator;
extern const char os_list_separator;
/* Returns the number of bytes at the start that name the root ("/", "C:\\", "\\\\server\\share\\");
 * 0 if the path is relative. */
size_t os_root_length(const char *path);
