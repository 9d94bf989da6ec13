#include "os/process.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "os/win32/win32.h"

/* PEP 514: the default value of HKxx\Software\Python\COMPANY\TAG\InstallPath is the folder. */
enum { MAX_KEY_NAME = 256, MAX_KEYS = 256 };

struct best {
	uint64_t rank;
	char *prefix;
	/* If NULL, the best installation is wanted, otherwise all are. */
	int (*take)(struct jw_error *err, void *context, const char *prefix);
	void *context;
	struct jw_error *err;
	int result;
};

static char *install_path(HKEY tag)
{
	DWORD size = WIN32_MAX_PATH * sizeof(wchar_t);
	wchar_t *wide = mem_alloc(size + sizeof(wchar_t));
	char *path = NULL;
	size_t length;

	if (!RegGetValueW(tag, L"InstallPath", NULL, RRF_RT_REG_SZ, NULL, wide, &size)) {
		length = wcslen(wide);
		while (length > 3 && (wide[length - 1] == L'\\' || wide[length - 1] == L'/'))
			wide[--length] = 0;
		if (GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES)
			path = win32_utf8(NULL, wide);
	}
	mem_free(wide);
	return path;
}

/* Ranks "3.11", "3.11-32", "3.9-arm64" by the minor version; 32-bit ones come last. */
static uint64_t tag_rank(const wchar_t *company, const wchar_t *tag)
{
	unsigned long major = wcstoul(tag, NULL, 10);
	const wchar_t *dot = wcschr(tag, L'.');
	unsigned long minor = dot ? wcstoul(dot + 1, NULL, 10) : 0;
	bool narrow = wcsstr(tag, L"-32") != NULL, core = !wcscmp(company, L"PythonCore");

	if (major != 3 || minor > 999)
		return 1;
	return 2 + (uint64_t)!narrow * 1000000 + (uint64_t)core * 10000 + minor;
}

static void read_company(HKEY python, const wchar_t *company, struct best *best)
{
	HKEY key, tag;
	wchar_t name[MAX_KEY_NAME];

	if (RegOpenKeyExW(python, company, 0, KEY_READ, &key))
		return;
	for (DWORD i = 0; i < MAX_KEYS; i++) {
		DWORD length = MAX_KEY_NAME;
		char *prefix;

		if (best->result || RegEnumKeyExW(key, i, name, &length, NULL, NULL, NULL, NULL))
			break;
		if (tag_rank(company, name) <= best->rank || RegOpenKeyExW(key, name, 0, KEY_READ, &tag))
			continue;
		prefix = install_path(tag);
		if (prefix && best->take) {
			best->result = best->take(best->err, best->context, prefix);
			mem_free(prefix);
		} else if (prefix) {
			mem_free(best->prefix);
			best->prefix = prefix;
			best->rank = tag_rank(company, name);
		}
		RegCloseKey(tag);
	}
	RegCloseKey(key);
}

static void read_root(HKEY root, REGSAM view, struct best *best)
{
	HKEY python;
	wchar_t company[MAX_KEY_NAME];

	if (RegOpenKeyExW(root, L"Software\\Python", 0, KEY_READ | view, &python))
		return;
	for (DWORD i = 0; i < MAX_KEYS; i++) {
		DWORD length = MAX_KEY_NAME;

		if (RegEnumKeyExW(python, i, company, &length, NULL, NULL, NULL, NULL))
			break;
		/* The launcher's own key is not an installation. */
		if (wcscmp(company, L"PyLauncher") != 0)
			read_company(python, company, best);
	}
	RegCloseKey(python);
}

int os_python_registered(struct jw_error *err, char **ret_prefix)
{
	struct best best = {0};

	read_root(HKEY_CURRENT_USER, 0, &best);
	if (!best.prefix)
		read_root(HKEY_LOCAL_MACHINE, KEY_WOW64_64KEY, &best);
	if (!best.prefix)
		read_root(HKEY_LOCAL_MACHINE, KEY_WOW64_32KEY, &best);
	if (!best.prefix)
		return error_set(err, JW_ERR_NOT_FOUND, "no Python is registered");
	*ret_prefix = best.prefix;
	return 0;
}

int os_python_each(struct jw_error *err,
				   int (*take)(struct jw_error *err, void *context, const char *prefix),
				   void *context)
{
	struct best all = {.take = take, .context = context, .err = err};

	read_root(HKEY_CURRENT_USER, 0, &all);
	read_root(HKEY_LOCAL_MACHINE, KEY_WOW64_64KEY, &all);
	read_root(HKEY_LOCAL_MACHINE, KEY_WOW64_32KEY, &all);
	return all.result;
}
