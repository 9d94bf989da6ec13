/* The libc functions that the phantom replaces. Each checks whether the call concerns the phantom's
 * files, and otherwise passes it on unchanged. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "phantom.h"

#define EXPORT __attribute__((visibility("default")))

/* Declares `real`, the library's function that this one replaces. */
#define REAL(name)                                                                                 \
	static __typeof__(&(name)) real;                                                               \
	if (!real)                                                                                     \
	find_next(#name, &real)

static void find_next(const char *name, void *ret_function)
{
	void *found = dlsym(RTLD_NEXT, name);
	if (!found) {
		fprintf(stderr, "phantom: this C library has no %s\n", name);
		abort();
	}
	memcpy(ret_function, &found, sizeof found);
}

/* The C library's headers use other parameter names.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* ---- open */

/* If true, *ret_fd is the answer to opening this path. */
static bool open_ours(const char *path, int *ret_fd)
{
	const char *text;
	if (device_path(path))
		*ret_fd = device_open(path);
	else if ((text = module_text(path)))
		*ret_fd = module_text_open(text);
	else
		return false;
	return true;
}

/* The third argument exists only with these flags. */
static bool open_has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name, ...)                                                                            \
	REAL(name);                                                                                    \
	mode_t mode = 0;                                                                               \
	int fd;                                                                                        \
	if (open_ours(path, &fd))                                                                      \
		return fd;                                                                                 \
	if (open_has_mode(flags)) {                                                                    \
		va_list list;                                                                              \
		va_start(list, flags);                                                                     \
		mode = va_arg(list, mode_t);                                                               \
		va_end(list);                                                                              \
	}                                                                                              \
	return real(__VA_ARGS__, mode)

EXPORT int open(const char *path, int flags, ...)
{
	OPEN(open, path, flags);
}

EXPORT int open64(const char *path, int flags, ...)
{
	OPEN(open64, path, flags);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	OPEN(openat, dir, path, flags);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	OPEN(openat64, dir, path, flags);
}

static FILE *text_stream(const char *text)
{
	int fd = module_text_open(text);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
	REAL(fopen);
	const char *text = module_text(path);
	return text ? text_stream(text) : real(path, mode);
}

EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	REAL(fopen64);
	const char *text = module_text(path);
	return text ? text_stream(text) : real(path, mode);
}

/* ---- names */

EXPORT int access(const char *path, int mode)
{
	REAL(access);
	if (module_text(path) || (device_path(path) && device_exists(path)))
		return 0;
	return real(path, mode);
}

static bool stat_ours(const char *path, void *ret_stat)
{
	struct stat answer;
	_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "x86-64 has one struct stat");
	if (!device_path(path) || !device_exists(path))
		return false;
	device_stat(path, &answer);
	memcpy(ret_stat, &answer, sizeof answer);
	return true;
}

EXPORT int stat(const char *restrict path, struct stat *restrict ret_stat)
{
	REAL(stat);
	return stat_ours(path, ret_stat) ? 0 : real(path, ret_stat);
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict ret_stat)
{
	REAL(stat64);
	return stat_ours(path, ret_stat) ? 0 : real(path, ret_stat);
}

/* Programs built with a glibc before 2.33 call stat() and mknod() by these names; libcuda does.
 * Current headers do not declare them. */
EXPORT int __xstat(int version, const char *path, struct stat *ret_stat);
EXPORT int __xstat64(int version, const char *path, struct stat64 *ret_stat);
EXPORT int __xmknod(int version, const char *path, mode_t mode, dev_t *device);

int __xstat(int version, const char *path, struct stat *ret_stat)
{
	REAL(__xstat);
	return stat_ours(path, ret_stat) ? 0 : real(version, path, ret_stat);
}

int __xstat64(int version, const char *path, struct stat64 *ret_stat)
{
	REAL(__xstat64);
	return stat_ours(path, ret_stat) ? 0 : real(version, path, ret_stat);
}

int __xmknod(int version, const char *path, mode_t mode, dev_t *device)
{
	REAL(__xmknod);
	return device_path(path) ? 0 : real(version, path, mode, device);
}

/* ---- descriptors */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	REAL(ioctl);
	enum { NV_ESC_IOCTL_XFER_CMD = 211 }; /* for parameters larger than a request can say */
	struct {
		uint32_t number, size;
		void *params;
	} * transfer;
	va_list list;
	va_start(list, request);
	void *params = va_arg(list, void *);
	va_end(list);
	enum file_kind kind = file_kind(fd);
	if (kind == FILE_NONE)
		return real(fd, request, params);
	if (kind == FILE_UVM)
		return uvm_ioctl((uint32_t)request, params);
	if (_IOC_NR(request) != NV_ESC_IOCTL_XFER_CMD)
		return rm_ioctl((uint32_t)_IOC_NR(request), params, (uint32_t)_IOC_SIZE(request));
	transfer = params;
	return rm_ioctl(transfer->number, transfer->params, transfer->size);
}

typedef void *map_fn(void *, size_t, int, int, int, off_t);

static void *map_device(map_fn *map, void *address, size_t length, int flags, int fd)
{
	int anonymous = (flags & MAP_FIXED) | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *at = map(address, length, PROT_READ | PROT_WRITE, anonymous, -1, 0);
	LOG("mmap %p+%zx -> %p", address, length, at);
	if (at != MAP_FAILED)
		file_mapped(fd, at, length);
	return at;
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	REAL(mmap);
	if (file_kind(fd) != FILE_NONE)
		return map_device(real, address, length, flags, fd);
	return real(address, length, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset)
{
	REAL(mmap64);
	if (file_kind(fd) != FILE_NONE)
		return map_device(real, address, length, flags, fd);
	return real(address, length, protection, flags, fd, offset);
}

EXPORT int munmap(void *address, size_t length)
{
	REAL(munmap);
	int result = real(address, length);
	if (!result)
		uvm_forget_mapping(address, length);
	return result;
}

EXPORT int close(int fd)
{
	REAL(close);
	if (file_kind(fd) != FILE_NONE)
		file_closed((unsigned)fd, (unsigned)fd);
	return real(fd);
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	REAL(close_range);
	if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC))
		file_closed(first, last);
	return real(first, last, flags);
}

EXPORT void closefrom(int first)
{
	REAL(closefrom);
	file_closed(first < 0 ? 0 : (unsigned)first, UINT_MAX);
	real(first);
}

static int copied(int from, int to)
{
	if (to >= 0 && to != from) {
		if (file_kind(to) != FILE_NONE) /* the file that dup2() closed */
			file_closed((unsigned)to, (unsigned)to);
		file_copied(from, to);
	}
	return to;
}

EXPORT int dup(int fd)
{
	REAL(dup);
	return copied(fd, real(fd));
}

EXPORT int dup2(int from, int to)
{
	REAL(dup2);
	return copied(from, real(from, to));
}

EXPORT int dup3(int from, int to, int flags)
{
	REAL(dup3);
	return copied(from, real(from, to, flags));
}

/* The kernel module's poll() consumes the pending event; an eventfd has to be read. */
EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	REAL(poll);
	int result = real(fds, count, timeout);
	for (nfds_t i = 0; result > 0 && i < count; i++) {
		uint64_t events;
		if ((fds[i].revents & POLLIN) && file_kind(fds[i].fd) != FILE_NONE &&
			read(fds[i].fd, &events, sizeof events) != (ssize_t)sizeof events)
			LOG("event %d was empty", fds[i].fd);
	}
	return result;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
