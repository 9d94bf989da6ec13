#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
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
 * users may move. No call returns it for an account without its token; the data is in the account's
 * registry, as long as that is loaded (somebody is logged on there, or a task runs as it). */

#define EXPLORER "Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"

enum { MOST_VALUE = 32768 };

/* A text of the account's registry, unexpanded; NULL if there is none. */
static char *read_registry_text(const struct jw_account *account, const char *key, const char *name)
{
	char *path = mem_printf(NULL, "%s\\%s", account->id, key), *text = NULL;
	wchar_t *wide_path = path ? win32_wide(NULL, path) : NULL, *wide_name = win32_wide(NULL, name);
	wchar_t *value = mem_array(NULL, MOST_VALUE, sizeof *value);
	DWORD size = MOST_VALUE * sizeof *value;

	if (wide_path && wide_name && value &&
		!RegGetValueW(HKEY_USERS, wide_path, wide_name,
					  RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, value, &size))
		text = win32_utf8(NULL, value);
	mem_free(value);
	mem_free(wide_name);
	mem_free(wide_path);
	mem_free(path);
	return text;
}

static char *known_place(const KNOWNFOLDERID *id)
{
	wchar_t *wide = NULL;
	char *path = NULL;

	if (SHGetKnownFolderPath(id, 0, NULL, &wide) == S_OK)
		path = win32_shown(NULL, wide);
	CoTaskMemFree(wide);
	return path;
}

static char *computer_name(void)
{
	wchar_t wide[MAX_COMPUTERNAME_LENGTH + 1];
	DWORD room = MAX_COMPUTERNAME_LENGTH + 1;

	return GetComputerNameW(wide, &room) ? win32_utf8(NULL, wide) : NULL;
}

/* The variables that are the same for every account, by the system itself: our own environment is
 * what the account that started us made of it. */
static bool is_of_machine(const char *name, char **ret_value)
{
	static const struct {
		const char *name;
		const KNOWNFOLDERID *id;
	} places[] = {{"SystemRoot", &FOLDERID_Windows},
				  {"windir", &FOLDERID_Windows},
				  {"SystemDrive", &FOLDERID_Windows},
				  {"ProgramData", &FOLDERID_ProgramData},
				  {"PUBLIC", &FOLDERID_Public}};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (text_equal_fold(name, places[i].name)) {
			*ret_value = known_place(places[i].id);
			if (*ret_value && text_equal_fold(name, "SystemDrive"))
				(*ret_value)[strcspn(*ret_value, "\\")] = '\0';
			return true;
		}
	if (!text_equal_fold(name, "COMPUTERNAME"))
		return false;
	*ret_value = computer_name();
	return true;
}

/* A variable's value for the account, NULL if unknown: most of our own variables belong to another
 * account. Source: Microsoft, "User Profiles" and "Environment Variables": logon stores the
 * volatile ones (HOMESHARE, LOGONSERVER, USERDOMAIN) beside the permanent ones. */
static char *variable_of(const struct jw_account *account, const char *name)
{
	static const char *const keys[] = {"Volatile Environment", "Environment"};
	char *value = NULL;

	if (text_equal_fold(name, "USERPROFILE"))
		return mem_string(NULL, account->home);
	if (text_equal_fold(name, "USERNAME"))
		return mem_string(NULL, account->name);
	if (is_of_machine(name, &value))
		return value;
	for (size_t i = 0; !value && i < sizeof keys / sizeof *keys; i++)
		value = read_registry_text(account, keys[i], name);
	if (value && strchr(value, '%')) {
		mem_free(value);
		value = NULL;
	}
	return value;
}

/* NULL if a variable is unknown, or the text has a lone % ("100%"). */
static char *expand_for_account(const struct jw_account *account, const char *text)
{
	struct buf whole = BUF_MAX(MOST_VALUE);
	char *result = NULL;
	const char *end;

	for (const char *start; (start = strchr(text, '%')); text = end + 1) {
		char *name, *value;
		bool failed;

		end = strchr(start + 1, '%');
		name = end ? mem_string_n(NULL, start + 1, (size_t)(end - start) - 1) : NULL;
		value = name ? variable_of(account, name) : NULL;
		mem_free(name);
		failed = !value || buf_append(NULL, &whole, text, (size_t)(start - text)) ||
				 buf_append(NULL, &whole, value, strlen(value));
		mem_free(value);
		if (failed)
			goto done;
	}
	if (!buf_append(NULL, &whole, text, strlen(text)))
		result = mem_string(NULL, buf_text(&whole));
done:
	buf_free(&whole);
	return result;
}

/* Its place in the registry; the second key is a copy of the first from the last start of the
 * account's desktop. Only an absolute path counts. */
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

/* Our own folder, independent of our environment: other programs start programs for us with it. */
static char *own(void)
{
	return known_place(&FOLDERID_RoamingAppData);
}

static bool is_us(const struct jw_account *account)
{
	char *id = NULL;
	bool us = !os_account_id(NULL, &id) && !strcmp(id, account->id);

	mem_free(id);
	return us;
}

/* What an administrator's program would log on to a server for, or leave the drives by. */
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
	char *path = base ? os_join(err, base, "NVIDIA\\ComputeCache") : NULL;
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
