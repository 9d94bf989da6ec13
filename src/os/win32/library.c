#include "os/library.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/win32/win32.h"

struct os_library {
	HMODULE module;
};

static bool is_path(const char *name)
{
	return os_base_name(name) != name;
}

void os_library_places(void)
{
	(void)SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32 | LOAD_LIBRARY_SEARCH_USER_DIRS);
}

/* Adds the library's folder to the search: some libraries load others of their folder by name
 * (NVRTC its builtins). */
static void add_library_folder(const wchar_t *path)
{
	const wchar_t *name = wcsrchr(path, L'\\');
	wchar_t *folder = name ? mem_array((size_t)(name - path) + 1, sizeof *folder) : NULL;

	if (!folder)
		return;
	memcpy(folder, path, (size_t)(name - path) * sizeof *folder);
	(void)AddDllDirectory(folder);
	mem_free(folder);
}

/* Loads from System32 only, or from the folder of a given path: never from the current folder or
 * PATH, where any user may have put a library of that name. */
int os_library_open(struct jw_error *err, const char *name, struct os_library **ret_library)
{
	struct os_library *library = mem_alloc(sizeof *library);
	wchar_t *wide = is_path(name) ? win32_plain_path(err, name) : win32_wide(err, name);
	DWORD flags = LOAD_LIBRARY_SEARCH_SYSTEM32;
	int result = -1;

	if (!wide)
		goto done;
	if (is_path(name)) {
		flags |= LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
		add_library_folder(wide);
	}
	library->module = LoadLibraryExW(wide, NULL, flags);
	if (!library->module) {
		win32_error(err, name);
		error_prefix(err, "cannot be loaded");
		goto done;
	}
	*ret_library = library;
	library = NULL;
	result = 0;
done:
	mem_free(library);
	mem_free(wide);
	return result;
}

bool os_library_function(struct os_library *library, const char *name, void *ret_function)
{
	const FARPROC found = GetProcAddress(library->module, name);

	memcpy(ret_function, &found, sizeof found);
	return found != NULL;
}

static int module_path(struct jw_error *err, HMODULE module, char **ret_path)
{
	wchar_t *wide = mem_array(WIN32_MAX_PATH, sizeof *wide);
	char *shown = NULL;

	if (GetModuleFileNameW(module, wide, WIN32_MAX_PATH))
		shown = win32_shown(err, wide);
	else
		win32_error(err, "the file of a library");
	mem_free(wide);
	if (!shown)
		return -1;
	if (!os_real_path(NULL, shown, ret_path))
		mem_free(shown);
	else
		*ret_path = shown;
	return 0;
}

/* System32\nvcuda.dll forwards calls to nvcuda64.dll in the driver store: that is the driver */
int os_library_path(struct jw_error *err, struct os_library *library, const char *function,
					char **ret_path)
{
	HMODULE loader = GetModuleHandleW(L"nvcuda.dll"), driver = GetModuleHandleW(L"nvcuda64.dll");

	if (!GetProcAddress(library->module, function))
		return error_set(err, JW_ERR_NOT_FOUND, "the file of %s is not known", function);
	return module_path(err, driver && library->module == loader ? driver : library->module,
					   ret_path);
}

/* Returns FOLDER\name if it exists. */
static bool try_file(const char *folder, const char *name, char **ret_path)
{
	char *path = os_join(folder, name);
	bool found = !os_real_path(NULL, path, ret_path);

	mem_free(path);
	return found;
}

/* The display adapters' settings give the full paths of the user-mode driver's files; the CUDA
 * driver lies beside them. Source: "UserModeDriverName" in Microsoft's documentation of display
 * drivers' INF files. */
static bool try_adapter(unsigned number, char **ret_path)
{
	static const wchar_t class_key[] =
		L"SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}\\";
	wchar_t key[sizeof class_key / sizeof *class_key + 8], names[2048] = {0};
	DWORD size = sizeof names - 2 * sizeof *names;
	char *first, *folder;
	bool found = false;

	memcpy(key, class_key, sizeof class_key);
	for (size_t i = 0, rest = number; i < 4; i++, rest /= 10)
		key[sizeof class_key / sizeof *class_key - 1 + 3 - i] = (wchar_t)(L'0' + rest % 10);
	key[sizeof class_key / sizeof *class_key - 1 + 4] = L'\0';
	if (RegGetValueW(HKEY_LOCAL_MACHINE, key, L"UserModeDriverName",
					 RRF_RT_REG_MULTI_SZ | RRF_RT_REG_SZ, NULL, names, &size))
		return false;
	first = win32_shown(NULL, names);
	folder = first && os_is_absolute(first) ? os_dir_name(first) : NULL;
	if (folder)
		found = try_file(folder, "nvcuda64.dll", ret_path);
	mem_free(folder);
	mem_free(first);
	return found;
}

int os_find_driver(struct jw_error *err, char **ret_path)
{
	enum { MAX_ADAPTERS = 16 };
	wchar_t wide[MAX_PATH];
	UINT length = GetSystemDirectoryW(wide, MAX_PATH);
	char *system = length && length < MAX_PATH ? win32_shown(err, wide) : NULL, *path = NULL;
	bool found = system && try_file(system, "nvcuda.dll", &path);

	/* If System32 lacks the loader, programs do not find the driver. */
	for (unsigned i = 0; found && i < MAX_ADAPTERS; i++) {
		char *driver = NULL;

		if (!try_adapter(i, &driver))
			continue;
		mem_free(path);
		path = driver;
		break;
	}
	mem_free(system);
	if (!found)
		return error_set(err, JW_ERR_NOT_FOUND, "no NVIDIA driver: no nvcuda.dll in System32");
	*ret_path = path;
	return 0;
}

bool os_find_library(const char *name, char **ret_path)
{
	(void)name;
	(void)ret_path;
	return false;
}

bool os_lacks_jit_compiler(const char *driver)
{
	(void)driver;
	return false;
}

/* A version resource is a few hundred bytes. */
enum { MAX_VERSION_BYTES = 1 << 20 };

int os_file_release(struct jw_error *err, const char *path, char ret_release[32])
{
	wchar_t *wide = win32_plain_path(err, path);
	DWORD size = wide ? GetFileVersionInfoSizeExW(FILE_VER_GET_NEUTRAL, wide, NULL) : 0;
	void *data = size && size < MAX_VERSION_BYTES ? mem_alloc(size) : NULL;
	void *found = NULL;
	UINT length = 0;
	int result = -1;

	if (!wide)
		return -1;
	if (data && GetFileVersionInfoExW(FILE_VER_GET_NEUTRAL, wide, 0, size, data) &&
		VerQueryValueW(data, L"\\", &found, &length) && length >= sizeof(VS_FIXEDFILEINFO)) {
		const VS_FIXEDFILEINFO *info = found;
		const unsigned digits =
			HIWORD(info->dwFileVersionLS) % 10u * 10000u + LOWORD(info->dwFileVersionLS);

		if (LOWORD(info->dwFileVersionLS) <= 9999) {
			(void)snprintf(ret_release, 32, "%u.%02u", digits / 100, digits % 100);
			result = 0;
		}
	}
	if (result)
		error_set(err, JW_ERR_NOT_FOUND, "%s: no version in it", path);
	mem_free(data);
	mem_free(wide);
	return result;
}
