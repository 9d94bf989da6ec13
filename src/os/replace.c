/* Files that are replaced as a whole: written beside their place, and renamed. */
#include "base/mem.h"
#include "os/open_file.h"
#include "os/uv.h"

/* A new file beside `path`: its descriptor, or -1. *ret_name is the caller's to free. */
static int create_beside(struct jw_error *err, const char *path, char **ret_name)
{
	char *given = os_uv_path(err, path);
	char *pattern = given ? mem_printf(err, "%s.XXXXXX", given) : NULL, *name = NULL;
	uv_fs_t request;
	int fd = -1;

	if (pattern) {
		fd = uv_fs_mkstemp(NULL, &request, pattern, NULL);
		name = fd < 0 ? NULL : mem_string(err, request.path);
		fd = os_uv_result(err, path, &request, fd);
	}
	mem_free(pattern);
	mem_free(given);
	if (fd >= 0)
		*ret_name = name;
	return fd;
}

static int replace(struct jw_error *err, const char *path, const void *data, size_t size,
				   uint32_t mode, const struct os_stat *like)
{
	char *name = NULL;
	int fd = create_beside(err, path, &name), result;

	if (fd < 0)
		return -1;
	result = !name || os_uv_write(err, path, fd, data, size, -1) ||
			 fd_set_rights(err, fd, path, mode, like);
	result = close_fd(result ? NULL : err, path, fd) || result || os_rename(err, name, path);
	if (result && name)
		(void)os_remove(NULL, name);
	mem_free(name);
	return result ? -1 : 0;
}

int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return replace(err, path, data, size, RIGHTS_OF_NEW, NULL);
}

int os_write_secret(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return replace(err, path, data, size, 0600, NULL);
}

static bool is_link(const char *path)
{
	char *given = os_uv_path(NULL, path);
	uv_fs_t request;
	bool is = given &&
			  os_uv_result(NULL, path, &request, uv_fs_readlink(NULL, &request, given, NULL)) == 0;

	mem_free(given);
	return is;
}

int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size)
{
	struct os_stat stat;
	char *real = NULL;
	int result;

	if (os_stat(NULL, path, &stat) || os_real_path(NULL, path, &real))
		return is_link(path)
				   ? error_set(err, JW_ERR_IO, "%s: links to a file that is not there", path)
				   : os_write_atomic(err, path, data, size);
	result = replace(err, real, data, size, stat.mode, &stat);
	mem_free(real);
	return result;
}
