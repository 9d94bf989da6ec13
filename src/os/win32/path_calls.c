#include "os/path_calls.h"

#include <string.h>

#include "base/mem.h"
#include "os/uv.h"
#include "os/win32/opening.h"

/* A virus scanner, or a driver of another make, may have opened the file without sharing it. */
enum { BUSY_TRIES = 50, BUSY_MS = 10 };

/* The handle becomes the descriptor's. */
static int descriptor_of(struct jw_error *err, const char *path, HANDLE handle)
{
	int fd = uv_open_osfhandle(handle);

	if (fd >= 0)
		return fd;
	(void)CloseHandle(handle);
	return error_set(err, JW_ERR_IO, "%s: Too many open files", path);
}

int path_open(struct jw_error *err, const char *path, int flags)
{
	const DWORD access = flags & UV_FS_O_RDWR ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ;
	const enum win32_opening how = flags & UV_FS_O_CREAT ? OPENING_FILE : OPENING_EXISTING;
	HANDLE handle = win32_open(err, path, access, how);

	for (int tries = 0; handle == INVALID_HANDLE_VALUE && tries < BUSY_TRIES &&
						GetLastError() == ERROR_SHARING_VIOLATION;
		 tries++) {
		uv_sleep(BUSY_MS);
		handle = win32_open(err, path, access, how);
	}
	return handle == INVALID_HANDLE_VALUE ? -1 : descriptor_of(err, path, handle);
}

int path_make_dir(struct jw_error *err, const char *path, uint32_t mode)
{
	HANDLE handle = win32_open(err, path, 0, OPENING_NEW_FOLDER);

	(void)mode;
	if (handle != INVALID_HANDLE_VALUE) {
		(void)CloseHandle(handle);
		return 0;
	}
	/* A link that is not followed is the better reason. */
	if (GetLastError() == ERROR_ALREADY_EXISTS &&
		(handle = win32_open(err, path, 0, OPENING_EXISTING)) != INVALID_HANDLE_VALUE)
		(void)CloseHandle(handle);
	return -1;
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

enum { LETTERS = 6, MOST_TRIES = 100 };

/* Chooses six letters that cannot be predicted. */
static int choose_letters(struct jw_error *err, const char *path, char *ret_letters)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t random[LETTERS];

	if (uv_random(NULL, NULL, random, sizeof random, 0, NULL))
		return error_set(err, JW_ERR_IO, "%s: no random numbers", path);
	for (size_t i = 0; i < LETTERS; i++)
		ret_letters[i] = letters[random[i] % (sizeof letters - 1)];
	return 0;
}

/* Tries other letters while the name exists. */
static HANDLE make_new(struct jw_error *err, const char *path, char between, DWORD access,
					   enum win32_opening how, char **ret_name)
{
	char *name = mem_printf(err, "%s%cXXXXXX", path, between);
	HANDLE made = INVALID_HANDLE_VALUE;

	for (int tries = 0; name && made == INVALID_HANDLE_VALUE && tries < MOST_TRIES; tries++) {
		if (choose_letters(err, path, name + strlen(name) - LETTERS))
			break;
		made = win32_open(err, name, access, how);
		if (made == INVALID_HANDLE_VALUE && GetLastError() != ERROR_ALREADY_EXISTS)
			break;
	}
	if (made == INVALID_HANDLE_VALUE)
		mem_free(name);
	else
		*ret_name = name;
	return made;
}

int path_make_file(struct jw_error *err, const char *path, char **ret_name)
{
	char *name;
	HANDLE made = make_new(err, path, '.', GENERIC_READ | GENERIC_WRITE, OPENING_NEW_FILE, &name);
	int fd = made == INVALID_HANDLE_VALUE ? -1 : descriptor_of(err, path, made);

	if (fd >= 0)
		*ret_name = name;
	else if (made != INVALID_HANDLE_VALUE)
		mem_free(name);
	return fd;
}

int path_make_folder(struct jw_error *err, const char *path, char **ret_name)
{
	HANDLE made = make_new(err, path, '-', 0, OPENING_NEW_FOLDER, ret_name);

	if (made == INVALID_HANDLE_VALUE)
		return -1;
	(void)CloseHandle(made);
	return 0;
}

bool path_is_link(const char *path)
{
	struct win32_at at;
	HANDLE handle;
	bool is;

	if (win32_enter(NULL, path, false, &at))
		return false;
	handle = win32_open_at(&at, 0, SHARE_ALL, OPENING_LINK);
	is = handle != INVALID_HANDLE_VALUE && win32_is_link(&at, handle);
	if (handle != INVALID_HANDLE_VALUE)
		(void)CloseHandle(handle);
	win32_leave(&at);
	return is;
}
