#include "os/path_calls.h"

#include <string.h>

#include "base/mem.h"
#include "os/uv.h"

/* A virus scanner, or a driver of another make, may have opened the file without sharing it. */
enum { BUSY_TRIES = 50, BUSY_MS = 10 };

int path_open(struct jw_error *err, const char *path, int flags)
{
	char *given = os_uv_path(err, path);
	uv_fs_t request;
	int fd = -1;

	for (int tries = 0; given; tries++) {
		fd = uv_fs_open(NULL, &request, given, flags, 0666, NULL);
		if (fd != UV_EBUSY || tries == BUSY_TRIES) {
			fd = os_uv_result(err, path, &request, fd);
			break;
		}
		uv_fs_req_cleanup(&request);
		uv_sleep(BUSY_MS);
	}
	mem_free(given);
	return fd;
}

int path_make_dir(struct jw_error *err, const char *path, uint32_t mode)
{
	char *given = os_uv_path(err, path);
	uv_fs_t request;
	int result = -1;

	if (given)
		result =
			os_uv_result(err, path, &request, uv_fs_mkdir(NULL, &request, given, (int)mode, NULL));
	mem_free(given);
	return result;
}

int path_remove_dir(struct jw_error *err, const char *path)
{
	char *given = os_uv_path(err, path);
	uv_fs_t request;
	int result = -1;

	if (given)
		result = os_uv_result(err, path, &request, uv_fs_rmdir(NULL, &request, given, NULL));
	mem_free(given);
	return result;
}

/* Does nothing: a file has its folder's rights. */
int path_set_owner(struct jw_error *err, const char *path, uint32_t owner, uint32_t group)
{
	(void)err;
	(void)path;
	(void)owner;
	(void)group;
	return 0;
}

int path_make_file(struct jw_error *err, const char *path, char **ret_name)
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

int path_make_folder(struct jw_error *err, const char *path, char **ret_name)
{
	enum { LETTERS = 6 };
	char *name = mem_printf(err, "%s-XXXXXX", path);
	char *given = name ? os_uv_path(err, name) : NULL;
	uv_fs_t request;
	int made = -1;

	if (given) {
		made = uv_fs_mkdtemp(NULL, &request, given, NULL);
		if (!made)
			memcpy(name + strlen(name) - LETTERS, request.path + strlen(request.path) - LETTERS,
				   LETTERS);
		made = os_uv_result(err, name, &request, made);
	}
	mem_free(given);
	if (made)
		mem_free(name);
	else
		*ret_name = name;
	return made;
}

bool path_is_link(const char *path)
{
	char *given = os_uv_path(NULL, path);
	uv_fs_t request;
	bool is = given &&
			  os_uv_result(NULL, path, &request, uv_fs_readlink(NULL, &request, given, NULL)) == 0;

	mem_free(given);
	return is;
}
