#include <jitwarm/compiler.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "code/release.h"
#include "driver/compiler_fetch.h"
#include "driver/installed_compilers.h"
#include "driver/ptxas.h"
#include "os/env.h"
#include "os/file.h"
#include "os/private.h"
#include "os/process.h"

/* ---- versions */

uint32_t compiler_cuda_of_text(const char *text)
{
	uint32_t numbers[3];

	return text && text_numbers(text, 3, numbers, 3) >= 2 && numbers[1] < 100
			   ? numbers[0] * 1000 + numbers[1] * 10
			   : 0;
}

/* Returns the version in "libnvrtc-builtins.so.12.8" or "nvrtc-builtins64_128.dll"; 0 for another
 * file. */
static uint32_t cuda_of_builtins(const char *name)
{
	const char *linked = strstr(name, ".so."), *windows = strstr(name, "64_");
	uint32_t number;

	if (!text_starts(name, "libnvrtc-builtins") && !text_starts(name, "nvrtc-builtins64_"))
		return 0;
	if (linked)
		return compiler_cuda_of_text(linked + 4);
	number = windows ? (uint32_t)strtoul(windows + 3, NULL, 10) : 0;
	return number >= 100 && number < 1000 ? number / 10 * 1000 + number % 10 * 10 : 0;
}

/* Two major versions may be in one folder: libnvrtc.so.12 does not belong to 13's builtins. */
static uint32_t cuda_beside(const char *path, unsigned long major)
{
	char *folder = os_dir_name(path);
	struct os_names names;
	uint32_t newest = 0;

	if (!os_list(NULL, folder, &names)) {
		for (size_t i = 0; i < names.count; i++) {
			const uint32_t cuda = cuda_of_builtins(names.items[i]);

			if (cuda > newest && (!major || cuda / 1000 == major))
				newest = cuda;
		}
		os_names_free(&names);
	}
	mem_free(folder);
	return newest;
}

uint32_t compiler_nvrtc_cuda(const char *path)
{
	uint32_t cuda = cuda_of_builtins(os_base_name(path)), numbers[3];
	const char *version;
	char *real;

	if (cuda || text_starts(os_base_name(path), "libnvrtc-builtins") ||
		text_starts(os_base_name(path), "nvrtc-builtins64_") || os_real_path(NULL, path, &real))
		return cuda;
	version = strstr(os_base_name(real), ".so.");
	/* libnvrtc.so.11.2 is the name of all versions from 11.2 to 11.8, which the builtins
	 * distinguish. */
	if (version && text_numbers(version + 4, 3, numbers, 3) == 3)
		cuda = compiler_cuda_of_text(version + 4);
	else
		cuda = cuda_beside(real, version ? strtoul(version + 4, NULL, 10) : 0);
	mem_free(real);
	return cuda;
}

char *compiler_refused_ptx(const char *name, uint32_t cuda, const struct jw_driver *driver)
{
	const struct gpu_isa writes = gpu_driver_isa(&(struct jw_driver){.cuda = cuda}),
						 reads = gpu_driver_isa(driver);
	const unsigned major = cuda / 1000, minor = cuda % 1000 / 10;
	char text[JW_DRIVER_TEXT];

	if (!driver->cuda || gpu_isa_compare(writes, reads) <= 0)
		return NULL;
	(void)jw_driver_number(text, driver);
	if (cuda > gpu_newest_cuda()) /* the compiler's PTX version is not known */
		return mem_printf(
			"%s %u.%u writes newer PTX than driver %s reads (%u.%u): such PTX fails (222)", name,
			major, minor, text, reads.major, reads.minor);
	return mem_printf(
		"%s %u.%u writes PTX %u.%u, and driver %s reads up to %u.%u: such PTX fails (222)", name,
		major, minor, writes.major, writes.minor, text, reads.major, reads.minor);
}

/* ---- search */

/* The state of a search. The version decides, not the order of the folders. */
struct compiler_search {
	void *owner; /* of its paths */
	uint32_t wanted;
	const char *found;
	const char *older; /* the newest compiler that is older than requested */
	uint32_t older_cuda;
	struct jw_error distrust; /* why the first refused compiler must not be run */
};

/* Tries the ptxas in a folder: the exact version ends the search; otherwise the newest older one is
 * remembered. A relative folder in PATH depends on the current directory,
 * so it is skipped. */
static void try_in(struct compiler_search *search, const char *root, const char *below)
{
	const char *path;
	uint32_t cuda;

	if (search->found || !root || !os_is_whole_path(root))
		return;
	path = arena_printf(search->owner, "%s%c%s%s%s", root, os_separator, below, *below ? "/" : "",
						compiler_fetch_program());
	if (!os_exists(path) || os_guard(search->distrust.code ? NULL : &search->distrust, path) ||
		ptxas_version(NULL, path, &cuda))
		return;
	if (cuda == search->wanted) {
		search->found = path;
	} else if (cuda < search->wanted && cuda > search->older_cuda) {
		search->older = path;
		search->older_cuda = cuda;
	}
}

/* Tries the fetched compilers, those of toolkits, and PATH. */
static void try_all(struct compiler_search *search)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
	void *owner = search->owner;
	struct os_names names;
	char *store, *at, *end;

	if (!jw_compiler_store(NULL, &store) && !os_list(NULL, arena_keep(owner, store), &names)) {
		for (size_t i = 0; i < names.count; i++)
			if (names.kinds[i] == OS_DIRECTORY && *names.items[i] != '.')
				try_in(search, store, names.items[i]);
		os_names_free(&names);
	}
	try_in(search,
		   arena_keep(owner, os_cuda_toolkit(search->wanted / 1000, search->wanted % 1000 / 10)),
		   "bin");
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		try_in(search, arena_keep(owner, os_env(variables[i])), "bin");
	try_in(search, arena_keep(owner, os_cuda_toolkit(0, 0)), "bin");
	for (at = arena_keep(owner, os_env("PATH")); at && !search->found; at = end) {
		end = strchr(at, os_list_separator);
		if (end)
			*end++ = '\0';
		try_in(search, at, "");
	}
}

bool jw_compiler_has_wheel(const struct jw_driver *driver)
{
	return compiler_fetch_first(driver->cuda) == driver->cuda;
}

static int fetch_version(struct jw_error *err, void *owner, uint32_t cuda, bool exact,
						 const struct jw_compiler_fetch_options *fetch,
						 struct compiler *ret_compiler)
{
	char version[32], *path;

	(void)snprintf(version, sizeof version, "%u.%u", cuda / 1000, cuda % 1000 / 10);
	if (jw_compiler_fetch(err, version, fetch, &path))
		return -1;
	*ret_compiler = (struct compiler){arena_keep(owner, path), cuda, exact};
	return 0;
}

int compiler_named(struct jw_error *err, void *owner, const struct jw_driver *driver,
				   const char *file, struct compiler *ret_compiler)
{
	char text[JW_DRIVER_TEXT], *path;
	uint32_t cuda;

	if (os_real_path(err, file, &path) || ptxas_version(err, arena_keep(owner, path), &cuda))
		return -1;
	if (driver->cuda && cuda > driver->cuda)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s belongs to CUDA %u.%u, which is newer than driver %s: the driver "
						 "would refuse its code",
						 file, cuda / 1000, cuda % 1000 / 10, jw_driver_text(text, driver));
	*ret_compiler = (struct compiler){path, cuda, cuda == driver->cuda};
	return 0;
}

int compiler_find(struct jw_error *err, void *owner, const struct jw_driver *driver,
				  const struct jw_compiler_fetch_options *fetch, struct compiler *ret_compiler)
{
	struct compiler_search search = {.owner = owner, .wanted = driver->cuda};
	const unsigned major = driver->cuda / 1000, minor = driver->cuda % 1000 / 10;
	char text[JW_DRIVER_TEXT], package[64], older[512] = "";

	if (!driver->cuda)
		return error_set(err, JW_ERR_USAGE,
						 "the CUDA version of the driver is unknown; name it with --driver (12.4)");
	try_all(&search);
	if (search.found) {
		*ret_compiler = (struct compiler){search.found, driver->cuda, true};
		return 0;
	}
	if (fetch && jw_compiler_has_wheel(driver))
		return fetch_version(err, owner, driver->cuda, true, fetch, ret_compiler);
	if (search.older)
		(void)text_format(
			older, sizeof older,
			"; --ptxas %.300s (CUDA %u.%u) would make working code, but not the driver's "
			"own, and no module of a newer PTX",
			search.older, search.older_cuda / 1000, search.older_cuda % 1000 / 10);
	if (!jw_compiler_has_wheel(driver))
		error_set(err, JW_ERR_NOT_FOUND,
				  "driver %s needs ptxas %u.%u, for which there is no wheel: name the ptxas of a "
				  "CUDA %u.%u toolkit with --ptxas FILE%s",
				  jw_driver_text(text, driver), major, minor, major, minor, older);
	else
		error_set(err, JW_ERR_NOT_FOUND,
				  "driver %s needs ptxas %u.%u: “jitwarm compiler fetch %u.%u” gets it (wheel "
				  "%s==%u.%u.*), or add --fetch%s",
				  jw_driver_text(text, driver), major, minor, major, minor,
				  compiler_fetch_package(package, major), major, minor, older);
	return search.distrust.code ? error_prefix(err, "%s; so", search.distrust.message) : -1;
}
