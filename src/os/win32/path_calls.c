#include "os/path_calls.h"

#include <jitwarm/accounts.h>

#include <string.h>

#include "base/mem.h"
#include "os/uv.h"
#include "os/win32/win32.h"

/* After windows.h, whose types it needs */
#include <sddl.h>

int path_open(struct jw_error *err, const char *path, int flags)
{
	char *given = os_uv_path(err, path);
	uv_fs_t request;
	int fd = -1;

	if (given)
		fd =
			os_uv_result(err, path, &request, uv_fs_open(NULL, &request, given, flags, 0666, NULL));
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

/* Administrators and the system, for the folder and all that is made in it; nothing is inherited.
 */
static const wchar_t administrators_alone[] = L"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";

/* -1 with GetLastError() set. A folder of that name that is there already is not taken. */
static int make_guarded_dir(const char *path)
{
	SECURITY_ATTRIBUTES guarded = {.nLength = sizeof guarded};
	wchar_t *wide = win32_path(NULL, path);
	int result = -1;

	if (wide && ConvertStringSecurityDescriptorToSecurityDescriptorW(
					administrators_alone, SDDL_REVISION_1, &guarded.lpSecurityDescriptor, NULL)) {
		result = CreateDirectoryW(wide, &guarded) ? 0 : -1;
		(void)LocalFree(guarded.lpSecurityDescriptor);
	}
	mem_free(wide);
	return result;
}

int path_make_private_folder(struct jw_error *err, const char *path, char **ret_name)
{
	enum { TRIES = 16 };

	if (!jw_is_administrator())
		return path_make_folder(err, path, ret_name);
	for (int i = 0; i < TRIES; i++) {
		uint64_t number;
		char *name;

		if (uv_random(NULL, NULL, &number, sizeof number, 0, NULL))
			return error_set(err, JW_ERR_IO, "%s: no random numbers", path);
		name = mem_printf(err, "%s-%016llx", path, (unsigned long long)number);
		if (!name)
			return -1;
		if (!make_guarded_dir(name)) {
			*ret_name = name;
			return 0;
		}
		(void)win32_error(err, name);
		mem_free(name);
		if (GetLastError() != ERROR_ALREADY_EXISTS)
			return -1;
	}
	return -1;
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
