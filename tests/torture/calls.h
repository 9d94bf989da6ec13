/* These functions replace the C library's, in a program that includes this file and in the
 * libraries that it uses, so that they may fail on purpose. `strike` decides which calls fail. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "torture.h"

static const struct call {
	const char *name;
	int error;
} calls[] = {
	{"open", EIO},   {"create", ENOSPC}, {"read", EIO},     {"write", ENOSPC}, {"rename", EIO},
	{"fsync", EIO},  {"mmap", ENOMEM},   {"mkdir", ENOSPC}, {"lock", ENOLCK},  {"unlink", EIO},
	{"close", EIO},  {"stat", EIO},      {"fork", EAGAIN},  {"readdir", EIO},  {"resize", EIO},
	{"mode", EPERM}, {"pipe", EMFILE},
};
enum { CALLS = sizeof calls / sizeof *calls };
enum which {
	OPEN,
	CREATE,
	READ,
	WRITE,
	RENAME,
	FSYNC,
	MMAP,
	MKDIR,
	LOCK,
	UNLINK,
	CLOSE,
	STAT,
	FORK,
	READDIR,
	RESIZE,
	MODE,
	PIPE
};

/* Says whether this call fails; errno is set then. If `path` is NULL, the file is that of `fd`; if
 * it is relative, `fd` is its folder. */
static bool strike(enum which which, const char *path, int fd);
/* While `strike` decides about a rename, these are the file's former name and folder. */
static _Thread_local const char *renamed_from;
static _Thread_local int renamed_in;

static bool strike_open(int dir, const char *path, int flags)
{
	return strike(flags & O_CREAT ? CREATE : OPEN, path, dir);
}

#define OPEN_BODY(name, dir, path, ...)                                                            \
	REAL(name);                                                                                    \
	va_list list;                                                                                  \
	mode_t rights;                                                                                 \
	va_start(list, flags);                                                                         \
	rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                             \
	va_end(list);                                                                                  \
	return strike_open(dir, path, flags) ? -1 : real(__VA_ARGS__, rights)

int open(const char *path, int flags, ...)
{
	OPEN_BODY(open, -1, path, path, flags);
}
int open64(const char *path, int flags, ...)
{
	OPEN_BODY(open64, -1, path, path, flags);
}
int openat(int dir, const char *path, int flags, ...)
{
	OPEN_BODY(openat, dir, path, dir, path, flags);
}
int openat64(int dir, const char *path, int flags, ...)
{
	OPEN_BODY(openat64, dir, path, dir, path, flags);
}

#define CALL(type, failed, which, path, fd, name, parameters, ...)                                 \
	type name parameters                                                                           \
	{                                                                                              \
		REAL(name);                                                                                \
		return strike(which, path, fd) ? failed : real(__VA_ARGS__);                               \
	}

CALL(FILE *, NULL, OPEN, path, -1, fopen, (const char *path, const char *how), path, how)
CALL(FILE *, NULL, OPEN, path, -1, fopen64, (const char *path, const char *how), path, how)
CALL(DIR *, NULL, OPEN, path, -1, opendir, (const char *path), path)
CALL(DIR *, NULL, OPEN, NULL, fd, fdopendir, (int fd), fd)
CALL(struct dirent *, NULL, READDIR, NULL, dirfd(dir), readdir, (DIR * dir), dir)
CALL(struct dirent64 *, NULL, READDIR, NULL, dirfd(dir), readdir64, (DIR * dir), dir)
CALL(ssize_t, -1, READDIR, NULL, fd, getdents64, (int fd, void *to, size_t size), fd, to, size)
CALL(ssize_t, -1, READ, NULL, fd, read, (int fd, void *to, size_t size), fd, to, size)
CALL(ssize_t, -1, READ, NULL, fd, pread, (int fd, void *to, size_t size, off_t at), fd, to, size,
	 at)
CALL(ssize_t, -1, READ, NULL, fd, pread64, (int fd, void *to, size_t size, off64_t at), fd, to,
	 size, at)
CALL(ssize_t, -1, READ, NULL, fd, readv, (int fd, const struct iovec *to, int count), fd, to, count)
CALL(ssize_t, -1, READ, NULL, fd, preadv, (int fd, const struct iovec *to, int count, off_t at), fd,
	 to, count, at)
CALL(ssize_t, -1, WRITE, NULL, fd, write, (int fd, const void *from, size_t size), fd, from, size)
CALL(ssize_t, -1, WRITE, NULL, fd, pwrite, (int fd, const void *from, size_t size, off_t at), fd,
	 from, size, at)
CALL(ssize_t, -1, WRITE, NULL, fd, pwrite64, (int fd, const void *from, size_t size, off64_t at),
	 fd, from, size, at)
CALL(ssize_t, -1, WRITE, NULL, fd, writev, (int fd, const struct iovec *from, int count), fd, from,
	 count)
CALL(ssize_t, -1, WRITE, NULL, fd, pwritev, (int fd, const struct iovec *from, int count, off_t at),
	 fd, from, count, at)
int rename(const char *from, const char *to)
{
	REAL(rename);
	renamed_from = from;
	renamed_in = -1;
	return strike(RENAME, to, -1) ? -1 : real(from, to);
}
int renameat(int a, const char *from, int b, const char *to)
{
	REAL(renameat);
	renamed_from = from;
	renamed_in = a;
	return strike(RENAME, to, b) ? -1 : real(a, from, b, to);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	REAL(renameat2);
	renamed_from = from;
	renamed_in = a;
	return strike(RENAME, to, b) ? -1 : real(a, from, b, to, flags);
}
CALL(int, -1, FSYNC, NULL, fd, fsync, (int fd), fd)
CALL(int, -1, FSYNC, NULL, fd, fdatasync, (int fd), fd)
CALL(void *, MAP_FAILED, MMAP, NULL, fd, mmap,
	 (void *at, size_t size, int rights, int flags, int fd, off_t from), at, size, rights, flags,
	 fd, from)
CALL(void *, MAP_FAILED, MMAP, NULL, fd, mmap64,
	 (void *at, size_t size, int rights, int flags, int fd, off64_t from), at, size, rights, flags,
	 fd, from)
CALL(int, -1, MKDIR, path, -1, mkdir, (const char *path, mode_t rights), path, rights)
CALL(int, -1, MKDIR, path, dir, mkdirat, (int dir, const char *path, mode_t rights), dir, path,
	 rights)
CALL(char *, NULL, MKDIR, path, -1, mkdtemp, (char *path), path)
CALL(int, -1, LOCK, NULL, fd, flock, (int fd, int how), fd, how)
CALL(int, -1, UNLINK, path, -1, unlink, (const char *path), path)
CALL(int, -1, UNLINK, path, dir, unlinkat, (int dir, const char *path, int flags), dir, path, flags)
CALL(int, -1, UNLINK, path, -1, rmdir, (const char *path), path)
CALL(int, -1, STAT, path, -1, stat, (const char *path, struct stat *to), path, to)
CALL(int, -1, STAT, path, -1, stat64, (const char *path, struct stat64 *to), path, to)
CALL(int, -1, STAT, path, -1, lstat, (const char *path, struct stat *to), path, to)
CALL(int, -1, STAT, path, -1, lstat64, (const char *path, struct stat64 *to), path, to)
CALL(int, -1, STAT, NULL, fd, fstat, (int fd, struct stat *to), fd, to)
CALL(int, -1, STAT, NULL, fd, fstat64, (int fd, struct stat64 *to), fd, to)
CALL(int, -1, STAT, path, dir, fstatat, (int dir, const char *path, struct stat *to, int flags),
	 dir, path, to, flags)
CALL(int, -1, STAT, path, dir, fstatat64, (int dir, const char *path, struct stat64 *to, int flags),
	 dir, path, to, flags)
CALL(int, -1, STAT, path, dir, statx,
	 (int dir, const char *path, int flags, unsigned mask, struct statx *to), dir, path, flags,
	 mask, to)
CALL(int, -1, RESIZE, NULL, fd, ftruncate, (int fd, off_t size), fd, size)
CALL(int, -1, RESIZE, NULL, fd, ftruncate64, (int fd, off64_t size), fd, size)
CALL(int, -1, MODE, NULL, fd, fchmod, (int fd, mode_t rights), fd, rights)
CALL(int, -1, MODE, path, dir, fchmodat, (int dir, const char *path, mode_t rights, int flags), dir,
	 path, rights, flags)
CALL(int, -1, PIPE, "", -1, pipe2, (int ends[2], int flags), ends, flags)
CALL(pid_t, -1, FORK, "", -1, fork, (void))

int close(int fd)
{
	REAL(close);
	const bool failed = strike(CLOSE, NULL, fd);
	const int error = errno;

	if (!failed)
		return real(fd);
	(void)real(fd);
	errno = error;
	return -1;
}

#define FCNTL_BODY(name)                                                                           \
	REAL(name);                                                                                    \
	va_list list;                                                                                  \
	void *argument;                                                                                \
	va_start(list, command);                                                                       \
	argument = va_arg(list, void *);                                                               \
	va_end(list);                                                                                  \
	return (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) &&                \
				   strike(LOCK, NULL, fd)                                                          \
			   ? -1                                                                                \
			   : real(fd, command, argument)

int fcntl(int fd, int command, ...)
{
	FCNTL_BODY(fcntl);
}
int fcntl64(int fd, int command, ...)
{
	FCNTL_BODY(fcntl64);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	REAL(posix_spawn);
	return strike(FORK, path, -1) ? EAGAIN
								  : real(pid, path, actions, attributes, argv, environment);
}

int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
				 const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	REAL(posix_spawnp);
	return strike(FORK, path, -1) ? EAGAIN
								  : real(pid, path, actions, attributes, argv, environment);
}
