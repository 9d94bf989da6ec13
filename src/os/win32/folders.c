#include "os/folders.h"

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/private.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <knownfolders.h>
#include <sddl.h>
#include <shlobj.h>
#include <userenv.h>

/* A folder named by an environment variable, else one that the system knows. */
static int known_folder(struct jw_error *err, const char *variable, const KNOWNFOLDERID *id,
						char **ret_path)
{
	char *path = os_env(variable);
	wchar_t *wide = NULL;

	if (path && os_is_absolute(path)) {
		*ret_path = path;
		return 0;
	}
	mem_free(path);
	if (SHGetKnownFolderPath(id, 0, NULL, &wide) != S_OK)
		return error_set(err, JW_ERR_NOT_FOUND, "%%%s%% is not set", variable);
	path = win32_shown(err, wide);
	CoTaskMemFree(wide);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_home_dir(struct jw_error *err, char **ret_path)
{
	return known_folder(err, "USERPROFILE", &FOLDERID_Profile, ret_path);
}

/* Does nothing: only root on POSIX needs it. */
void os_keep_no_state(bool none)
{
	(void)none;
}

int os_state_dir(struct jw_error *err, char **ret_path)
{
	char *own = os_env("JITWARM_STATE"), *base = NULL, *path;

	if (own && *own) {
		*ret_path = own;
		return 0;
	}
	mem_free(own);
	if (known_folder(err, "LOCALAPPDATA", &FOLDERID_LocalAppData, &base))
		return -1;
	path = os_join(base, "jitwarm");
	mem_free(base);
	*ret_path = path;
	return 0;
}

int os_driver_cache_dir(struct jw_error *err, char **ret_path)
{
	char *base = NULL, *path;

	if (known_folder(err, "APPDATA", &FOLDERID_RoamingAppData, &base))
		return -1;
	path = os_join(base, "NVIDIA\\ComputeCache");
	mem_free(base);
	*ret_path = path;
	return 0;
}

int os_self_path(struct jw_error *err, char **ret_path)
{
	wchar_t *wide = mem_array(WIN32_MAX_PATH, sizeof *wide);
	char *path = NULL;

	if (!GetModuleFileNameW(NULL, wide, WIN32_MAX_PATH))
		win32_error(err, "our own program");
	else
		path = win32_shown(err, wide);
	mem_free(wide);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

/* Returns the system's own folder, which %TEMP% does not name. Windows 10 22H2 and newer have
 * SystemTemp, in which others can make nothing; in Temp they can, but cannot change our folders
 * (path_make_private_folder). */
static char *temp_of_system(struct jw_error *err)
{
	static const char *const names[] = {"SystemTemp", "Temp"};
	wchar_t wide[MAX_PATH];
	UINT length = GetSystemWindowsDirectoryW(wide, MAX_PATH);
	char *windows = length && length < MAX_PATH ? win32_shown(err, wide) : NULL, *path = NULL;

	for (size_t i = 0; windows && i < sizeof names / sizeof *names; i++) {
		path = os_join(windows, names[i]);
		if (i || os_exists(path))
			break;
		mem_free(path);
	}
	mem_free(windows);
	return path;
}

/* Returns the account's folder with long names: %TEMP% may hold short ones (KIM~1). */
static char *temp_of_account(struct jw_error *err)
{
	wchar_t base[MAX_PATH + 2], *whole = mem_array(WIN32_MAX_PATH, sizeof *whole);
	DWORD length = GetTempPathW(sizeof base / sizeof *base, base);
	char *path = NULL;

	if (!length || length > MAX_PATH + 1) {
		(void)win32_error(err, "the folder for temporary files");
	} else {
		length = GetLongPathNameW(base, whole, WIN32_MAX_PATH);
		path = win32_shown(err, length && length < WIN32_MAX_PATH ? whole : base);
	}
	mem_free(whole);
	return path;
}

bool os_is_own_temp_dir(const char *path)
{
	return !jw_is_administrator() || !os_check_private(NULL, path, NULL);
}

char *os_temp_dir(struct jw_error *err)
{
	return jw_is_administrator() ? temp_of_system(err) : temp_of_account(err);
}

/* Admits only administrators and the system to the folder and everything made in it; nothing is
 * inherited. */
static const wchar_t administrators_alone[] = L"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";

/* Refuses a folder of that name that already exists. */
static int make_guarded_dir(struct jw_error *err, const char *path, bool *ret_there)
{
	SECURITY_ATTRIBUTES guarded = {.nLength = sizeof guarded};
	wchar_t *wide = win32_path(err, path);
	int result = wide ? 0 : -1;

	*ret_there = false;
	if (wide && (!ConvertStringSecurityDescriptorToSecurityDescriptorW(
					 administrators_alone, SDDL_REVISION_1, &guarded.lpSecurityDescriptor, NULL) ||
				 !CreateDirectoryW(wide, &guarded))) {
		*ret_there = GetLastError() == ERROR_ALREADY_EXISTS;
		result = win32_error(err, path);
	}
	(void)LocalFree(guarded.lpSecurityDescriptor);
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
		bool there;
		char *name;

		if (uv_random(NULL, NULL, &number, sizeof number, 0, NULL))
			return error_set(err, JW_ERR_IO, "%s: no random numbers", path);
		name = mem_printf("%s-%016llx", path, (unsigned long long)number);
		if (!make_guarded_dir(err, name, &there)) {
			*ret_name = name;
			return 0;
		}
		mem_free(name);
		if (!there)
			return -1;
	}
	return -1;
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
enum os_loss os_loss(const char *path)
{
	char *folder = os_temp_dir(NULL);
	bool is = folder && is_below(path, folder);

	mem_free(folder);
	return is ? OS_LOST_AT_RESTART : OS_STAYS;
}

bool os_is_roaming(const char *path)
{
	char *folder = os_env("APPDATA");
	DWORD kind = 0;
	bool is = folder && GetProfileType(&kind) && kind & PT_ROAMING && is_below(path, folder);

	mem_free(folder);
	return is;
}
