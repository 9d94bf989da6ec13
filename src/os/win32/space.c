#include "os/file.h"

#include "base/mem.h"
#include "os/env.h"
#include "os/folders.h"
#include "os/private.h"
#include "os/win32/opening.h"
#include "os/win32/trust.h"

/* After windows.h, whose types it needs */
#include <userenv.h>

static bool is_wide_directory(const wchar_t *path)
{
	DWORD attributes = GetFileAttributesW(path);

	return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

/* With a quota, more space is free in total than for this account. Source: Microsoft's
 * documentation of GetDiskFreeSpaceExW. */
int os_space(struct jw_error *err, const char *path, struct os_space *ret_space)
{
	wchar_t *wide = win32_path(err, path), *root = mem_array(err, WIN32_MOST_PATH, sizeof *root);
	HANDLE there = wide && root ? win32_open(err, path, 0, OPENING_EXISTING) : INVALID_HANDLE_VALUE;
	ULARGE_INTEGER ours, all;
	int result = -1;

	if (there == INVALID_HANDLE_VALUE)
		goto done;
	(void)CloseHandle(there);
	/* The root of the volume: only folders can be queried */
	if (!GetVolumePathNameW(wide, root, WIN32_MOST_PATH) ||
		!GetDiskFreeSpaceExW(is_wide_directory(wide) ? wide : root, &ours, NULL, &all)) {
		win32_error(err, path);
		goto done;
	}
	*ret_space = (struct os_space){.free_bytes = ours.QuadPart,
								   .free_files = UINT64_MAX,
								   .quota = ours.QuadPart < all.QuadPart,
								   .network = GetDriveTypeW(root) == DRIVE_REMOTE};
	result = 0;
done:
	mem_free(wide);
	mem_free(root);
	return result;
}

static bool is_below(const char *path, const char *folder)
{
	wchar_t *whole = win32_plain_path(NULL, path), *start = win32_plain_path(NULL, folder);
	bool is = whole && start && !_wcsnicmp(whole, start, wcslen(start));

	mem_free(whole);
	mem_free(start);
	return is;
}

/* Cleaners empty the folder for temporary files. */
bool os_is_volatile(const char *path)
{
	char *folder = os_temp_dir(NULL);
	bool is = folder && is_below(path, folder);

	mem_free(folder);
	return is;
}

bool os_is_roaming(const char *path)
{
	char *folder = os_env("APPDATA");
	DWORD kind = 0;
	bool is = folder && GetProfileType(&kind) && kind & PT_ROAMING && is_below(path, folder);

	mem_free(folder);
	return is;
}

bool os_is_made_up(const char *path)
{
	(void)path;
	return false;
}

bool os_is_private(const char *path)
{
	char *there = os_nearest(NULL, path);
	const bool own = !win32_is_elevated() || (there && !os_check_private(NULL, there, 0, true));

	mem_free(there);
	return own;
}
