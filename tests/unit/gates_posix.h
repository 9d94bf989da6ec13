/* Gates act as another process in the moment before this one locks or removes a file. They replace
 * the C library's calls, so that whether a test hits does not depend on time. */
#pragma once

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Called with the path of the file that is about to be locked or removed; NULL: the gate does
 * nothing. */
static void (*gate_before_lock)(const char *path);
static void (*gate_before_removal)(const char *path);
/* No file can be locked, as on some network file systems; or a lock fails this many times, since
 * another process has it. */
static bool gate_locks_fail;
static int gate_locks_busy;
/* The removal then fails, as on a bad disk. */
static bool gate_removal_fails;

static inline void gate_pass(void (**gate)(const char *path), int fd, const char *name)
{
	char link[64], path[4096];
	void (*does)(const char *path) = *gate;
	ssize_t length;

	if (!does)
		return;
	(void)snprintf(path, sizeof path, "%s", name ? name : "");
	if (fd >= 0) {
		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		length = readlink(link, path, sizeof path / 2);
		assert_true(length > 0);
		(void)snprintf(path + length, sizeof path - (size_t)length, "%s%s", name ? "/" : "",
					   name ? name : "");
	}
	/* The gate does nothing during the other process's own calls. */
	*gate = NULL;
	does(path);
	*gate = does;
}

int fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	/* The cache's locks are exclusive. */
	if (command == F_SETLK && ((const struct flock *)argument)->l_type == F_WRLCK) {
		if (gate_locks_busy > 0 && gate_locks_busy--) {
			errno = EAGAIN;
			return -1;
		}
		gate_pass(&gate_before_lock, fd, NULL);
	}
	if (command == F_SETLK && gate_locks_fail) {
		errno = ENOLCK;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

int unlinkat(int folder_fd, const char *name, int flags)
{
	gate_pass(&gate_before_removal, folder_fd, name);
	if (gate_removal_fails) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, folder_fd, name, flags);
}

/* Says whether another process can lock the file. */
static inline bool gate_can_lock(const char *path)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		int fd = open(path, O_RDWR | O_CLOEXEC);

		_exit(fd >= 0 && !syscall(SYS_fcntl, fd, F_SETLK, &lock) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 1;
}

/* Replaces the file that is about to be locked by another one. */
static inline void gate_replace(const char *path)
{
	char fresh[4200];
	int fd;

	(void)snprintf(fresh, sizeof fresh, "%s.fresh", path);
	fd = open(fresh, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(rename(fresh, path), 0);
}
