#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "os/posix/posix.h"

const char os_separator = '/';
const char os_list_separator = ':';

bool os_is_separator(char c)
{
	return c == '/';
}

bool os_is_absolute(const char *path)
{
	return path[0] == '/';
}

size_t os_root_length(const char *path)
{
	return path[0] == '/';
}

int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	struct stat native;

	if (stat(path, &native))
		return posix_error(err, path);
	posix_stat_convert(&native, ret_stat);
	return 0;
}

uint64_t os_identity(const char *path)
{
	struct statx native;
	uint64_t state;

	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &native))
		return errno == ENOENT || errno == ENOTDIR ? 0 : OS_UNIDENTIFIED;
	if (!(native.stx_mask & STATX_BTIME) || !native.stx_btime.tv_sec)
		return OS_UNIDENTIFIED;
	state = fnv_update(FNV_START, &native.stx_ino, sizeof native.stx_ino);
	state = fnv_update(state, &native.stx_btime.tv_sec, sizeof native.stx_btime.tv_sec);
	return fnv_update(state, &native.stx_btime.tv_nsec, sizeof native.stx_btime.tv_nsec);
}

/* Opens without waiting for a pipe's writer, and refuses what is no regular file. */
static int open_regular(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat native;

	if (fd < 0)
		return posix_error(err, path);
	if (fstat(fd, &native)) {
		posix_error(err, path);
		(void)close(fd);
		return -1;
	}
	posix_stat_convert(&native, ret_stat);
	if (ret_stat->kind != OS_REGULAR) {
		(void)close(fd);
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: %s", path,
						 ret_stat->kind == OS_DIRECTORY ? "is a directory" : "is no regular file");
	}
	return fd;
}

int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map)
{
	struct os_map map = {.data = (const uint8_t *)""};
	int fd = open_regular(err, path, &map.stat), result = -1;

	if (fd < 0)
		return -1;
	if (map.stat.size_bytes > SIZE_MAX / 2) {
		error_set(err, JW_ERR_LIMIT, "%s: too large to map", path);
		goto done;
	}
	if (map.stat.size_bytes) {
		void *data = mmap(NULL, (size_t)map.stat.size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);

		if (data == MAP_FAILED) {
			posix_error(err, path);
			goto done;
		}
		map.data = data;
		map.handle = data;
		map.size = (size_t)map.stat.size_bytes;
	}
	*ret_map = map;
	result = 0;
done:
	(void)close(fd);
	return result;
}

void os_map_close(struct os_map *map)
{
	if (map->handle)
		(void)munmap(map->handle, map->size);
	*map = (struct os_map){0};
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), start = (offset + page - 1) / page * page,
		   end = (offset + size) / page * page;

	if (map->handle && end > start && end <= map->size)
		(void)madvise((uint8_t *)map->handle + start, end - start, MADV_DONTNEED);
}

/* The largest that Linux has. */
enum { MOST_PAGE = 65536 };

int os_read_file(struct jw_error *err, const char *path, size_t most, struct buf *ret_content)
{
	struct os_stat stat;
	struct buf content = BUF_MAX(most);
	int fd = open_regular(err, path, &stat);
	ssize_t got = 1;

	if (fd < 0)
		return -1;
	/* A file of sysfs says it has a page, and has a few bytes: of a small one its end tells. */
	if (stat.size_bytes > most && stat.size_bytes > MOST_PAGE)
		goto too_large;
	/* One byte more than the size tells whether the file grew meanwhile; files in /proc have size 0
	 * and content. */
	while (got > 0) {
		size_t step =
			content.size < stat.size_bytes ? (size_t)stat.size_bytes - content.size : 4096;

		if (step > most - content.size)
			step = most - content.size;
		if (!step)
			break;
		if (buf_reserve(err, &content, step))
			goto fail;
		got = read(fd, content.data + content.size, step);
		if (got < 0) {
			posix_error(err, path);
			goto fail;
		}
		content.size += (size_t)got;
	}
	if (got > 0 && stat.size_bytes > most)
		goto too_large;
	if (content.data)
		content.data[content.size] = 0;
	(void)close(fd);
	*ret_content = content;
	return 0;
too_large:
	error_set(err, JW_ERR_LIMIT, "%s: more than %zu bytes", path, most);
fail:
	buf_free(&content);
	(void)close(fd);
	return -1;
}

/* ---- files open for writing in place */

int os_file_open(struct jw_error *err, const char *path, enum os_open how,
				 struct os_file **ret_file)
{
	int flags = (how == OS_OPEN_READ ? O_RDONLY : O_RDWR) | (how == OS_OPEN_CREATE ? O_CREAT : 0);
	struct os_file *file = mem_alloc(err, sizeof *file);

	if (!file)
		return -1;
	file->fd = -1;
	file->path = mem_string(err, path);
	if (!file->path)
		goto fail;
	file->fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
	if (file->fd < 0) {
		posix_error(err, path);
		goto fail;
	}
	*ret_file = file;
	return 0;
fail:
	os_file_close(file);
	return -1;
}

void os_file_close(struct os_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		(void)close(file->fd);
	mem_free(file->path);
	mem_free(file);
}

int os_file_stat(struct jw_error *err, struct os_file *file, struct os_stat *ret_stat)
{
	struct stat native;

	if (fstat(file->fd, &native))
		return posix_error(err, file->path);
	posix_stat_convert(&native, ret_stat);
	return 0;
}

int os_file_size(struct jw_error *err, struct os_file *file, uint64_t *ret_size)
{
	struct stat native;

	if (fstat(file->fd, &native))
		return posix_error(err, file->path);
	*ret_size = (uint64_t)native.st_size;
	return 0;
}

int os_file_read(struct jw_error *err, struct os_file *file, uint64_t offset, void *data,
				 size_t size, size_t *ret_got)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(file->fd, (uint8_t *)data + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return posix_error(err, file->path);
		if (!got)
			break;
		done += (size_t)got;
	}
	*ret_got = done;
	return 0;
}

int os_file_write(struct jw_error *err, struct os_file *file, uint64_t offset, const void *data,
				  size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put =
			pwrite(file->fd, (const uint8_t *)data + done, size - done, (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return posix_error(err, file->path);
		done += (size_t)put;
	}
	return 0;
}

int os_file_truncate(struct jw_error *err, struct os_file *file, uint64_t size)
{
	return ftruncate(file->fd, (off_t)size) ? posix_error(err, file->path) : 0;
}

int os_file_set_mtime(struct jw_error *err, struct os_file *file, int64_t mtime_ns)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = (time_t)(mtime_ns / 1000000000), .tv_nsec = (long)(mtime_ns % 1000000000)}};

	return futimens(file->fd, times) ? posix_error(err, file->path) : 0;
}

int os_file_sync(struct jw_error *err, struct os_file *file)
{
	return fsync(file->fd) ? posix_error(err, file->path) : 0;
}

/* `like`: the file that is replaced, whose owner the new one gets; NULL for a new one. */
static int write_atomic(struct jw_error *err, const char *path, const void *data, size_t size,
						mode_t mode, const struct os_stat *like)
{
	char *temporary = mem_printf(err, "%s.XXXXXX", path);
	int fd = -1;

	if (!temporary)
		return -1;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		posix_error(err, path);
		goto fail;
	}
	for (size_t done = 0; done < size;) {
		ssize_t put = write(fd, (const uint8_t *)data + done, size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			posix_error(err, path);
			goto fail_remove;
		}
		done += (size_t)put;
	}
	/* Another account's file stays that account's, where we may; else it is not replaced. */
	if ((like && fchown(fd, like->owner, like->group)) || fchmod(fd, mode) || close(fd)) {
		fd = -1;
		posix_error(err, path);
		goto fail_remove;
	}
	fd = -1;
	if (os_rename(err, temporary, path))
		goto fail_remove;
	mem_free(temporary);
	return 0;
fail_remove:
	(void)unlink(temporary);
fail:
	if (fd >= 0)
		(void)close(fd);
	mem_free(temporary);
	return -1;
}

int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return write_atomic(err, path, data, size, 0666 & ~mask, NULL);
}

int os_write_secret(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return write_atomic(err, path, data, size, 0600, NULL);
}

int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size)
{
	struct os_stat stat;
	char *real = NULL;
	int result;

	if (os_stat(NULL, path, &stat) || os_real_path(NULL, path, &real)) {
		struct stat native;

		if (!lstat(path, &native) && S_ISLNK(native.st_mode))
			return error_set(err, JW_ERR_IO, "%s: links to a file that is not there", path);
		return os_write_atomic(err, path, data, size);
	}
	result = write_atomic(err, real, data, size, (mode_t)stat.mode, &stat);
	mem_free(real);
	return result;
}
