#include "os/file.h"

#include <string.h>

#include "base/mem.h"
#include "os/folders.h"
#include "os/path_calls.h"
#include "os/uv.h"

int close_fd(struct jw_error *err, const char *path, int fd)
{
	uv_fs_t request;

	return os_uv_result(err, path, &request, uv_fs_close(NULL, &request, fd, NULL));
}

static int open_regular(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	int fd = path_open(err, path, UV_FS_O_RDONLY | UV_FS_O_NONBLOCK, false);

	if (fd < 0)
		return -1;
	if (!fd_stat(err, fd, path, ret_stat)) {
		if (ret_stat->kind == OS_REGULAR)
			return fd;
		error_set(err, JW_ERR_UNSUPPORTED, "%s: %s", path,
				  ret_stat->kind == OS_DIRECTORY ? "is a directory" : "is not a regular file");
	}
	(void)close_fd(NULL, path, fd);
	return -1;
}

static int too_large(struct jw_error *err, const char *path, size_t most)
{
	return error_set(err, JW_ERR_LIMIT, "%s: more than %zu bytes", path, most);
}

int os_read_descriptor(struct jw_error *err, int fd, size_t most, struct buf *ret_content)
{
	struct buf content = BUF_MAX(most);
	char piece[4096];
	int got;

	while ((got = os_uv_read(err, "standard input", fd, piece, sizeof piece, -1)) > 0)
		if (buf_append(NULL, &content, piece, (size_t)got)) {
			got = too_large(err, "standard input", most);
			break;
		}
	if (got < 0)
		buf_free(&content);
	else
		*ret_content = content;
	return got < 0 ? -1 : 0;
}

/* Reads one byte more than the size into the same allocation, to detect that the file has grown.
 * Files in /proc have size 0 and content. A file in sysfs reports the size of a page and has a few
 * bytes, so a small file is read to its end. */
int os_read_file(struct jw_error *err, const char *path, size_t most, struct buf *ret_content)
{
	enum { MAX_PAGE = 65536 }; /* the largest page size on Linux */
	struct buf content = BUF_MAX(most);
	struct os_stat stat;
	int fd = open_regular(err, path, &stat), got = 1, result = -1;
	size_t size;

	if (fd < 0)
		return -1;
	size = (size_t)stat.size_bytes;
	if (size > most && size > MAX_PAGE) {
		too_large(err, path, most);
		goto done;
	}
	while (got > 0 && content.size < most) {
		size_t step = size && content.size <= size ? size - content.size + 1 : 4096;

		if (step > most - content.size)
			step = most - content.size;
		if (buf_reserve(err, &content, step))
			goto done;
		got = os_uv_read(err, path, fd, content.data + content.size, step, -1);
		if (got < 0)
			goto done;
		content.size += (size_t)got;
	}
	if (got > 0 && size > most) {
		too_large(err, path, most);
		goto done;
	}
	if (content.data)
		content.data[content.size] = 0;
	result = 0;
done:
	(void)close_fd(NULL, path, fd);
	if (result)
		buf_free(&content);
	else
		*ret_content = content;
	return result;
}

size_t os_read_head(const char *path, void *bytes, size_t size)
{
	struct os_file *file;
	size_t got;

	if (os_file_open(NULL, path, OS_OPEN_READ, &file))
		return 0;
	if (os_file_read(NULL, file, 0, bytes, size, &got))
		got = 0;
	os_file_close(file);
	return got;
}

int os_file_open(struct jw_error *err, const char *path, enum os_open how,
				 struct os_file **ret_file)
{
	/* A pipe without a writer would block the reader. */
	int flags = (how == OS_OPEN_READ ? UV_FS_O_RDONLY | UV_FS_O_NONBLOCK : UV_FS_O_RDWR) |
				(how == OS_OPEN_CREATE || how == OS_OPEN_LOCK ? UV_FS_O_CREAT : 0) |
				(how == OS_OPEN_APPEND ? UV_FS_O_APPEND : 0);
	struct os_file *file = mem_alloc(sizeof *file);

	file->path = mem_string(path);
	file->fd = path_open(err, path, flags, how == OS_OPEN_LOCK);
	if (file->fd < 0) {
		mem_free(file->path);
		mem_free(file);
		return -1;
	}
	*ret_file = file;
	return 0;
}

int os_make_new(struct jw_error *err, const char *path)
{
	const int fd = path_open(err, path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL, false);

	return fd < 0 ? -1 : close_fd(err, path, fd);
}

void os_file_close(struct os_file *file)
{
	if (!file)
		return;
	/* Windows releases the lock when the file is closed, but may delay that. */
	if (file->locked)
		(void)os_file_unlock(NULL, file);
	(void)close_fd(NULL, file->path, file->fd);
	mem_free(file->path);
	mem_free(file);
}

int os_file_stat(struct jw_error *err, struct os_file *file, struct os_stat *ret_stat)
{
	return fd_stat(err, file->fd, file->path, ret_stat);
}

int os_file_size(struct jw_error *err, struct os_file *file, uint64_t *ret_size)
{
	struct os_stat stat;

	if (os_file_stat(err, file, &stat))
		return -1;
	*ret_size = stat.size_bytes;
	return 0;
}

int os_file_read(struct jw_error *err, struct os_file *file, uint64_t offset, void *data,
				 size_t size, size_t *ret_got)
{
	size_t done = 0;

	while (done < size) {
		int got = os_uv_read(err, file->path, file->fd, (uint8_t *)data + done, size - done,
							 (int64_t)(offset + done));

		if (got < 0)
			return -1;
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
	return os_uv_write(err, file->path, file->fd, data, size, (int64_t)offset);
}

int os_file_truncate(struct jw_error *err, struct os_file *file, uint64_t size)
{
	uv_fs_t request;

	return os_uv_result(err, file->path, &request,
						uv_fs_ftruncate(NULL, &request, file->fd, (int64_t)size, NULL));
}

int os_file_sync(struct jw_error *err, struct os_file *file)
{
	uv_fs_t request;

	return os_uv_result(err, file->path, &request, uv_fs_fsync(NULL, &request, file->fd, NULL));
}

void os_sync_names(const char *path)
{
	char *folder = os_dir_name(path);
	struct os_file *file;

	if (folder && !os_file_open(NULL, folder, OS_OPEN_READ, &file)) {
		(void)os_file_sync(NULL, file);
		os_file_close(file);
	}
	mem_free(folder);
}

/* A sparse file costs its owner nothing, and a search of all its bytes takes as long as they say.
 * The largest wheels, libraries and image layers have a few GiB. */
static const uint64_t MAX_MAPPED_GIB = 64;

int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map)
{
	struct os_map map = {.data = (const uint8_t *)""};
	int fd = open_regular(err, path, &map.stat), result = 0;

	if (fd < 0)
		return -1;
	if (map.stat.size_bytes > MAX_MAPPED_GIB << 30)
		result = error_set(err, JW_ERR_LIMIT, "%s: larger than %d GiB, the most that jitwarm reads",
						   path, (int)MAX_MAPPED_GIB);
	else if (map.stat.size_bytes) {
		map.size = (size_t)map.stat.size_bytes;
		map.handle = map_view(err, fd, path, map.size);
		map.data = map.handle;
		result = map.handle ? 0 : -1;
	}
	(void)close_fd(NULL, path, fd);
	if (!result)
		*ret_map = map;
	return result;
}

void os_map_close(struct os_map *map)
{
	if (map->handle)
		map_unview(map->handle, map->size);
	*map = (struct os_map){0};
}

/* Paths as text: the part shared by both systems. */

static const char *last_separator(const char *path)
{
	const char *at = path + strlen(path);

	while (at > path)
		if (os_is_separator(*--at))
			return at;
	return NULL;
}

char *os_join(const char *a, const char *b)
{
	size_t length = strlen(a);

	if (!length)
		return mem_string(b);
	return os_is_separator(a[length - 1]) ? mem_printf("%s%s", a, b)
										  : mem_printf("%s%c%s", a, os_separator, b);
}

const char *os_base_name(const char *path)
{
	const char *last = last_separator(path);

	return last ? last + 1 : path;
}

char *os_dir_name(const char *path)
{
	const char *last = last_separator(path);
	size_t root = os_root_length(path), length = last ? (size_t)(last - path) : 0;

	if (!last && !root)
		return mem_string(".");
	return mem_string_n(path, length < root ? root : length);
}

int os_absolute(struct jw_error *err, const char *path, char **ret_path)
{
	char *here = NULL, *whole;

	if (!os_is_absolute(path) && os_real_path(err, ".", &here))
		return -1;
	whole = here ? os_join(here, path) : mem_string(path);
	mem_free(here);
	for (size_t at = strlen(whole); at > os_root_length(whole) && os_is_separator(whole[at - 1]);)
		whole[--at] = '\0';
	*ret_path = whole;
	return 0;
}

int path_choose_letters(struct jw_error *err, const char *path, char *ret_letters)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t random[PATH_LETTERS];

	if (uv_random(NULL, NULL, random, sizeof random, 0, NULL))
		return error_set(err, JW_ERR_IO, "%s: no random numbers", path);
	for (size_t i = 0; i < PATH_LETTERS; i++)
		ret_letters[i] = letters[random[i] % (sizeof letters - 1)];
	return 0;
}

int os_make_temp_dir(struct jw_error *err, const char *prefix, char **ret_path)
{
	char *folder = os_temp_dir(err);
	char *path = folder ? os_join(folder, prefix) : NULL;
	int result = path ? path_make_private_folder(err, path, ret_path) : -1;

	mem_free(path);
	mem_free(folder);
	return result;
}
