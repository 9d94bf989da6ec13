#include "os/programs.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <knownfolders.h>
#include <shlobj.h>

char *os_system_program(struct jw_error *err, const char *name)
{
	wchar_t wide[MAX_PATH];
	UINT length = GetSystemDirectoryW(wide, MAX_PATH);
	char *folder, *path;

	if (!length || length >= MAX_PATH) {
		(void)win32_error(err, name);
		return NULL;
	}
	folder = win32_shown(err, wide);
	path = folder ? os_join(err, folder, name) : NULL;
	mem_free(folder);
	return path;
}

char *os_system_text(struct jw_error *err, const char *printed)
{
	const int units = MultiByteToWideChar(CP_OEMCP, 0, printed, -1, NULL, 0);
	wchar_t *wide = mem_array(err, (size_t)units + 1, sizeof *wide);
	char *text = NULL;

	if (wide) {
		(void)MultiByteToWideChar(CP_OEMCP, 0, printed, -1, wide, units);
		text = win32_utf8(err, wide);
	}
	mem_free(wide);
	return text;
}

bool os_is_whole_path(const char *path)
{
	return os_is_absolute(path) && os_root_length(path) > 1;
}

static bool is_file(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR;
}

/* The file in this folder; NULL if there is none. */
static char *program_in(const char *folder, const char *name)
{
	static const char *const endings[] = {"", ".exe", ".com"};
	const bool has_ending = strchr(name, '.') != NULL;

	for (size_t i = has_ending ? 0 : 1; i < sizeof endings / sizeof *endings; i++) {
		char *path = mem_printf(NULL, "%s\\%s%s", folder, name, endings[i]);

		if (path && is_file(path))
			return path;
		mem_free(path);
	}
	return NULL;
}

char *os_find_program(struct jw_error *err, const char *name)
{
	char *list, *found = NULL;

	if (os_base_name(name) != name)
		return mem_string(err, name);
	list = os_env("PATH");
	for (char *at = list; at && !found;) {
		char *end = strchr(at, os_list_separator);

		if (end)
			*end = '\0';
		if (os_is_whole_path(at))
			found = program_in(at, name);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	if (!found)
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: no such program on PATH; name one in the current folder as .\\%s", name,
				  name);
	return found;
}

char *os_cuda_toolkit(unsigned major, unsigned minor)
{
	wchar_t *wide = NULL;
	char *base = NULL, *path = NULL;

	if (major && SHGetKnownFolderPath(&FOLDERID_ProgramFiles, 0, NULL, &wide) == S_OK)
		base = win32_shown(NULL, wide);
	CoTaskMemFree(wide);
	if (base)
		path =
			mem_printf(NULL, "%s\\NVIDIA GPU Computing Toolkit\\CUDA\\v%u.%u", base, major, minor);
	mem_free(base);
	return path;
}
