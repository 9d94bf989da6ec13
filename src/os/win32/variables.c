#include "os/env.h"

#include <string.h>

#include "base/mem.h"
#include "os/win32/win32.h"

/* The longest value of a variable (32,767 characters). */
enum { MAX_VALUE = 32768, PATIENCE_MS = 1000 };

static const struct {
	HKEY root;
	const wchar_t *path;
	const char *shown;
} keys[] = {
	[OS_VARIABLES_USER] = {HKEY_CURRENT_USER, L"Environment", "HKEY_CURRENT_USER\\Environment"},
	[OS_VARIABLES_MACHINE] = {HKEY_LOCAL_MACHINE,
							  L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment",
							  "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Session "
							  "Manager\\Environment"},
	[OS_VARIABLES_USER_RECORD] = {HKEY_CURRENT_USER, L"SOFTWARE\\jitwarm",
								  "HKEY_CURRENT_USER\\SOFTWARE\\jitwarm"},
	[OS_VARIABLES_MACHINE_RECORD] = {HKEY_LOCAL_MACHINE, L"SOFTWARE\\jitwarm",
									 "HKEY_LOCAL_MACHINE\\SOFTWARE\\jitwarm"},
};

bool os_variables_kept(void)
{
	return true;
}

const char *os_variables_key(enum os_variables where)
{
	return keys[where].shown;
}

static int key_error(struct jw_error *err, enum os_variables where, LSTATUS status)
{
	if (status == ERROR_ACCESS_DENIED && keys[where].root == HKEY_LOCAL_MACHINE)
		return error_set(err, JW_ERR_IO,
						 "%s: Permission denied: the machine's variables need an administrator; "
						 "start the command from a console that was opened with “Run as "
						 "administrator”, or use --scope user",
						 keys[where].shown);
	return os_error_number(err, keys[where].shown, (int)status);
}

int os_variable_read(struct jw_error *err, enum os_variables where, const char *name,
					 struct os_variable *ret_variable)
{
	static const DWORD texts = RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND;
	wchar_t *wide = win32_wide(err, name), *value = mem_array(MAX_VALUE, sizeof *value);
	DWORD type = 0, size = MAX_VALUE * sizeof *value;
	char *text = NULL;
	LSTATUS status = 0;

	if (wide)
		status = RegGetValueW(keys[where].root, keys[where].path, wide, texts, &type, value, &size);
	if (status == ERROR_FILE_NOT_FOUND)
		error_set(err, JW_ERR_NOT_FOUND, "%s is not set", name);
	else if (status == ERROR_UNSUPPORTED_TYPE)
		error_set(err, JW_ERR_FORMAT, "%s\\%s is not text", keys[where].shown, name);
	else if (status)
		key_error(err, where, status);
	else if (wide)
		text = win32_utf8(err, value);
	mem_free(value);
	mem_free(wide);
	if (!text)
		return -1;
	*ret_variable = (struct os_variable){.value = text, .expands = type == REG_EXPAND_SZ};
	return 0;
}

/* Opens the key, and makes it if it is not one of the machine's own variables, which Windows
 * made. */
static LSTATUS open_for_writing(enum os_variables where, HKEY *ret_key)
{
	return where == OS_VARIABLES_MACHINE
			   ? RegOpenKeyExW(keys[where].root, keys[where].path, 0, KEY_SET_VALUE, ret_key)
			   : RegCreateKeyExW(keys[where].root, keys[where].path, 0, NULL, 0,
								 KEY_SET_VALUE | KEY_QUERY_VALUE, NULL, ret_key, NULL);
}

/* Removes our own key after its last value. */
static void drop_empty_record(enum os_variables where, HKEY key)
{
	DWORD values = 1, keys_below = 1;

	if (!RegQueryInfoKeyW(key, NULL, NULL, NULL, &keys_below, NULL, NULL, &values, NULL, NULL, NULL,
						  NULL) &&
		!values && !keys_below)
		(void)RegDeleteKeyW(keys[where].root, keys[where].path);
}

int os_variable_write(struct jw_error *err, enum os_variables where, const char *name,
					  const struct os_variable *variable)
{
	wchar_t *wide = win32_wide(err, name),
			*value = variable ? win32_wide(err, variable->value) : NULL;
	HKEY key;
	LSTATUS status;
	int result = -1;

	if (!wide || (variable && !value))
		goto done;
	status = open_for_writing(where, &key);
	if (!status) {
		status = value ? RegSetValueExW(key, wide, 0, variable->expands ? REG_EXPAND_SZ : REG_SZ,
										(const BYTE *)value,
										(DWORD)((wcslen(value) + 1) * sizeof *value))
					   : RegDeleteValueW(key, wide);
		if (!value && status == ERROR_FILE_NOT_FOUND)
			status = 0;
		if (where >= OS_VARIABLES_USER_RECORD)
			drop_empty_record(where, key);
		(void)RegCloseKey(key);
	}
	result = status ? key_error(err, where, status) : 0;
done:
	mem_free(wide);
	mem_free(value);
	return result;
}

void os_variables_announce(void)
{
	DWORD_PTR answer;

	(void)SendMessageTimeoutW(HWND_BROADCAST, WM_SETTINGCHANGE, 0, (LPARAM)L"Environment",
							  SMTO_ABORTIFHUNG, PATIENCE_MS, &answer);
}
