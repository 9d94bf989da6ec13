#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/identity.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <knownfolders.h>
#include <shlobj.h>

int os_env_set(struct jw_error *err, const char *name, const char *value)
{
	wchar_t *wide_name = win32_wide(err, name), *wide_value = value ? win32_wide(err, value) : NULL;
	int result = -1;

	if (!wide_name || (value && !wide_value))
		goto done;
	/* The C library keeps its own copy, which libraries that share it read. It cannot hold an empty
	 * value; the system can. */
	if (_wputenv_s(wide_name, wide_value ? wide_value : L"") ||
		(!SetEnvironmentVariableW(wide_name, wide_value) && value)) {
		win32_error(err, name);
		goto done;
	}
	result = 0;
done:
	mem_free(wide_name);
	mem_free(wide_value);
	return result;
}

/* Finds another account's roaming application data: its %APPDATA%, which Folder Redirection and
 * users may move. No call returns it without a token of the account; it is in the account's
 * registry as long as that is loaded (somebody is logged on there, or a task runs as it). */

#define EXPLORER "Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"

enum { MAX_VALUE = 32768 };

/* Returns a text of the account's registry, unexpanded; NULL if there is none. */
static char *read_registry_text(const struct jw_account *account, const char *key, const char *name)
{
	char *path = mem_printf("%s\\%s", account->id, key), *text = NULL;
	wchar_t *wide_path = win32_wide(NULL, path), *wide_name = win32_wide(NULL, name);
	wchar_t *value = mem_array(MAX_VALUE, sizeof *value);
	DWORD size = MAX_VALUE * sizeof *value;

	if (wide_path && wide_name &&
		!RegGetValueW(HKEY_USERS, wide_path, wide_name,
					  RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, value, &size))
		text = win32_utf8(NULL, value);
	mem_free(value);
	mem_free(wide_name);
	mem_free(wide_path);
	mem_free(path);
	return text;
}

/* Expands the variables in a value; NULL if that needs variables of another account. */
static char *expand_for_account(const struct jw_account *account, const char *text)
{
	static const char profile[] = "%USERPROFILE%";
	const bool below = text_starts_fold(text, profile);
	const char *rest = below ? text + sizeof profile - 1 : text;

	return strchr(rest, '%') ? NULL : mem_printf("%s%s", below ? account->home : "", rest);
}

/* Returns the folder in the registry. The second key is a copy of the first with all variables
 * replaced, from the last start of the account's desktop. Only an absolute path counts. */
static char *redirected(const struct jw_account *account)
{
	static const char *const keys[] = {EXPLORER "User Shell Folders", EXPLORER "Shell Folders"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		char *text = read_registry_text(account, keys[i], "AppData");
		char *path = text ? expand_for_account(account, text) : NULL;

		mem_free(text);
		/* A root without a drive is on the current drive. */
		if (path && os_is_absolute(path) && os_root_length(path) > 1)
			return path;
		mem_free(path);
	}
	return NULL;
}

/* Returns our own folder, independent of our environment, which the program that started us may
 * have changed. */
static char *own(void)
{
	wchar_t *wide = NULL;
	char *path = NULL;

	if (SHGetKnownFolderPath(&FOLDERID_RoamingAppData, 0, NULL, &wide) == S_OK)
		path = win32_shown(NULL, wide);
	CoTaskMemFree(wide);
	return path;
}

static bool is_us(const struct jw_account *account)
{
	char *id = NULL;
	bool us = !os_account_id(NULL, &id) && !strcmp(id, account->id);

	mem_free(id);
	return us;
}

/* Returns whether a path is on a drive. An administrator's program must not log on to a server or
 * open a device for the sake of another account's path. */
static bool is_on_drive(const char *path)
{
	wchar_t root[] = L"?:\\";

	if (os_is_separator(path[0]))
		return false;
	root[0] = (wchar_t)path[0];
	return GetDriveTypeW(root) != DRIVE_REMOTE;
}

int os_account_cache_dir(struct jw_error *err, const struct jw_account *account, char **ret_path)
{
	const bool us = is_us(account);
	char *base = us ? own() : redirected(account);
	char *path = base ? os_join(base, "NVIDIA\\ComputeCache") : NULL;
	bool found = base != NULL;

	if (base && !us && !is_on_drive(base)) {
		(void)error_set(
			err, JW_ERR_UNSUPPORTED,
			"%s: the account has chosen this folder as its %%APPDATA%%, and it is not on "
			"a drive of this machine: run jitwarm as that account",
			base);
		mem_free(base);
		mem_free(path);
		return -1;
	}
	mem_free(base);
	if (!found)
		return os_driver_cache_dir(err, account->home, ret_path);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}
