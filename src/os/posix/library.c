#include "os/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/platform.h"

struct os_library {
	void *handle;
};

void os_library_places(void)
{
}

int os_library_open(struct jw_error *err, const char *name, struct os_library **ret_library)
{
	struct os_library *library = mem_alloc(sizeof *library);

	library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle) {
		error_set(err, JW_ERR_NOT_FOUND, "%s cannot be loaded: %s", name, dlerror());
		mem_free(library);
		return -1;
	}
	*ret_library = library;
	return 0;
}

bool os_library_function(struct os_library *library, const char *name, void *ret_function)
{
	void *found = dlsym(library->handle, name);

	/* ISO C has no cast between the two kinds of pointers; POSIX guarantees the same
	 * representation. */
	memcpy(ret_function, &found, sizeof found);
	return found != NULL;
}

int os_library_path(struct jw_error *err, struct os_library *library, const char *function,
					char **ret_path)
{
	void *address = dlsym(library->handle, function);
	Dl_info info;

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return error_set(err, JW_ERR_NOT_FOUND, "the file of %s is not known", function);
	return os_real_path(err, info.dli_fname, ret_path);
}

static const char driver_name[] = "libcuda.so.1";

static bool try_folder(const char *name, const char *folder, size_t length, char **ret_path)
{
	char *path = mem_printf("%.*s/%s", (int)length, folder, name);
	bool found = !os_real_path(NULL, path, ret_path);

	mem_free(path);
	return found;
}

static bool try_list(const char *name, const char *list, char **ret_path)
{
	while (list && *list) {
		size_t length = strcspn(list, ":");

		if (length && length < 4096 && try_folder(name, list, length, ret_path))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

/* Searches the bytes of ld.so's cache, which holds NUL-terminated paths; so its layout need not be
 * known. */
static bool try_linker_cache(const char *name, char **ret_path)
{
	struct os_map map;
	char *ending = mem_printf("/%s", name);
	const size_t size = strlen(ending) + 1;
	bool found = false;

	if (os_map_open(NULL, "/etc/ld.so.cache", &map)) {
		mem_free(ending);
		return false;
	}
	for (const uint8_t *at = map.data, *end = map.data + map.size; !found && at < end;) {
		const uint8_t *hit = memmem(at, (size_t)(end - at), ending, size);
		const uint8_t *start = hit;

		if (!hit)
			break;
		while (start > map.data && start[-1])
			start--;
		/* The list contains 32-bit libraries too; only the 64-bit driver is wanted. */
		if (!memmem(start, (size_t)(hit - start), "i386", 4) &&
			!memmem(start, (size_t)(hit - start), "lib32", 5))
			found = try_folder(name, (const char *)start, (size_t)(hit - start), ret_path);
		at = hit + 1;
	}
	os_map_close(&map);
	mem_free(ending);
	return found;
}

bool os_find_library(const char *name, char **ret_path)
{
	static const char usual[] =
		"/usr/lib/wsl/lib:/usr/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu/nvidia/current:"
		"/usr/lib64:/usr/lib64/nvidia:/usr/lib/aarch64-linux-gnu:"
		"/usr/lib/aarch64-linux-gnu/nvidia:/usr/lib/aarch64-linux-gnu/tegra:" /* on Jetson */
		"/usr/lib:/usr/local/nvidia/lib64:/run/opengl-driver/lib";

	return try_list(name, getenv("LD_LIBRARY_PATH"), ret_path) ||
		   try_linker_cache(name, ret_path) || try_list(name, usual, ret_path);
}

int os_find_driver(struct jw_error *err, char **ret_path)
{
	if (os_find_library(driver_name, ret_path))
		return 0;
	return error_set(err, JW_ERR_NOT_FOUND,
					 "no NVIDIA driver: no %s in LD_LIBRARY_PATH or the usual folders",
					 driver_name);
}

bool os_lacks_jit_compiler(const char *driver)
{
	static const char name[] = "libnvidia-ptxjitcompiler.so.1";
	char *path = NULL;
	bool lacks = false;

	if (!os_is_wsl())
		lacks = !try_folder(name, driver, (size_t)(os_base_name(driver) - driver), &path) &&
				!os_find_library(name, &path);
	mem_free(path);
	return lacks;
}

int os_file_release(struct jw_error *err, const char *path, char ret_release[32])
{
	(void)ret_release;
	return error_set(err, JW_ERR_NOT_FOUND, "%s: no version in it", path);
}
