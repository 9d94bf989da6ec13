#include "find/libraries.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/library.h"
#include "os/process.h"

/* Takes the newest version, which has the last name: libnvrtc.so < libnvrtc.so.11.2 <
 * libnvrtc.so.12. */
static bool identify_member(const struct library_kind *kind, const char *folder, char **ret_path)
{
	struct os_names names;
	const char *best = NULL;

	if (os_list(NULL, folder, &names))
		return false;
	for (size_t i = 0; i < names.count; i++)
		if (names.kinds[i] == OS_REGULAR && kind->is(names.items[i]))
			best = names.items[i];
	if (best)
		*ret_path = os_join(folder, best);
	os_names_free(&names);
	return best;
}

static bool library_in(const struct library_kind *kind, const char *root, const char *below,
					   char **ret_path)
{
	char *folder = os_join(root, below);
	const bool found = identify_member(kind, folder, ret_path);

	mem_free(folder);
	return found;
}

bool library_kind_below(const struct library_kind *kind, const char *root, char **ret_path)
{
	static const char *const places[] = {"lib64",
										 "lib",
										 "bin",
										 "bin/x64",
										 "targets/x86_64-linux/lib",
										 "targets/sbsa-linux/lib",
										 "Library/bin",
										 "nvidia/cu13/lib",
										 "nvidia/cu13/bin/x86_64",
										 "cu13/lib"};

	if (identify_member(kind, root, ret_path))
		return true;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (library_in(kind, root, places[i], ret_path))
			return true;
	for (size_t i = 0; kind->folders[i]; i++)
		if (library_in(kind, root, kind->folders[i], ret_path))
			return true;
	return false;
}

bool library_kind_of_package(struct jw_error *err, const struct library_kind *kind,
							 const char *name, char **ret_path)
{
	struct jw_found *found = NULL;
	bool is_there = false;

	if (jw_find(err, &(struct jw_find_options){.names = &name, .name_count = 1}, &found))
		return false;
	for (size_t i = 0; i < found->file_count && !is_there; i++)
		if (kind->is(os_base_name(found->files[i].path))) {
			*ret_path = mem_string(found->files[i].path);
			is_there = true;
		}
	jw_found_free(found);
	return is_there;
}

int library_kind_named(struct jw_error *err, const struct library_kind *kind, const char *name,
					   char **ret_path)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (!os_stat(NULL, name, &stat)) {
		if (stat.kind == OS_DIRECTORY && library_kind_below(kind, name, ret_path))
			return 0;
		if (stat.kind == OS_REGULAR)
			return os_real_path(err, name, ret_path);
	}
	if (library_kind_of_package(&why, kind, name, ret_path))
		return 0;
	if (why.message[0])
		return error_set(err, JW_ERR_NOT_FOUND, "%s %s: %s", kind->option, name, why.message);
	return error_set(err, JW_ERR_NOT_FOUND,
					 "%s %s: neither it nor a package that it requires contains %s (%s)",
					 kind->option, name, kind->called, kind->files);
}

bool library_kind_of_variable(const struct library_kind *kind, const char *variable,
							  char **ret_path)
{
	char *root = os_env(variable);
	const bool found = root && os_is_whole_path(root) && library_kind_below(kind, root, ret_path);

	mem_free(root);
	return found;
}

/* ---- NVRTC in a toolkit, a wheel or a conda environment */

/* Returns whether the name is libnvrtc.so.12 or nvrtc64_120_0.dll, but not of their builtins or
 * CUDA's "alt" variant. */
static bool is_nvrtc(const char *name)
{
	bool shared = text_starts(name, "libnvrtc.so");
	bool windows = text_starts(name, "nvrtc64_") && text_ends(name, ".dll");

	return (shared || windows) && !strstr(name, "alt");
}

static const char *const folders[] = {"nvidia/cuda_nvrtc/lib", "nvidia/cuda_nvrtc/bin",
									  "cuda_nvrtc/lib", NULL};
static const struct library_kind nvrtc_kind = {
	.option = "--nvrtc",
	.called = "an NVRTC",
	.files = "libnvrtc.so, nvrtc64_*.dll",
	.is = is_nvrtc,
	.brought = "nvrtc",
	.folders = folders,
};

/* Adds a path, unless it is in the list, and takes ownership of it. */
static void add_outside(char *paths[NVRTC_OUTSIDE], size_t *count, char *path)
{
	for (size_t i = 0; i < *count; i++)
		if (!strcmp(paths[i], path)) {
			mem_free(path);
			return;
		}
	paths[(*count)++] = path;
}

size_t find_nvrtc_outside(char *ret_paths[NVRTC_OUTSIDE])
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"}, *const names[] = {
																		   "libnvrtc.so.13",
																		   "libnvrtc.so.12",
																		   "libnvrtc.so.11.2",
																		   "libnvrtc.so"};
	size_t count = 0;
	bool named = false;
	char *path;

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		char *root = os_env(variables[i]);

		named = named || root;
		mem_free(root);
		if (library_kind_of_variable(&nvrtc_kind, variables[i], &path))
			add_outside(ret_paths, &count, path);
	}
	path = named ? NULL : os_cuda_toolkit(0, 0);
	if (path) {
		char *file;

		if (library_kind_below(&nvrtc_kind, path, &file))
			add_outside(ret_paths, &count, file);
		mem_free(path);
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (os_find_library(names[i], &path))
			add_outside(ret_paths, &count, path);
	return count;
}

/* Conda's NVRTC is in the environment's own folders. */
static bool find_nvrtc_in(const char *folder, char **ret_path)
{
	static const char *const sites[] = {"site-packages", "dist-packages"};
	const char *kind = environment_kind(folder);
	bool may = kind && !strcmp(kind, "conda");

	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
		may = may || !strcmp(os_base_name(folder), sites[i]);
	return may && library_kind_below(&nvrtc_kind, folder, ret_path);
}

bool find_nvrtc_beside(const char *path, char **ret_path)
{
	enum { MOST_ABOVE = 64 }; /* no environment has a file deeper */
	char *named = os_dir_name(path), *folder;
	bool has = false, more = !os_real_path(NULL, named, &folder);

	mem_free(named);
	for (int levels = 1; more; levels++) {
		char *above = os_dir_name(folder);

		has = find_nvrtc_in(folder, ret_path);
		more = !has && levels < MOST_ABOVE && strcmp(above, folder) != 0;
		mem_free(folder);
		folder = above;
		if (!more)
			mem_free(folder);
	}
	return has;
}

int jw_find_nvrtc(struct jw_error *err, const char *name, char **ret_path)
{
	const struct package_fact *package;
	char *path = NULL, *newest;
	bool found = false;

	if (name)
		return library_kind_named(err, &nvrtc_kind, name, ret_path);
	for (size_t at = 0; !found && (package = package_fact_next(nvrtc_kind.brought, &at));)
		found = library_kind_of_package(NULL, &nvrtc_kind, package->name, &path);
	if (!found)
		found = library_kind_of_variable(&nvrtc_kind, "CUDA_HOME", &path) ||
				library_kind_of_variable(&nvrtc_kind, "CUDA_PATH", &path);
	newest = found ? NULL : os_cuda_toolkit(0, 0);
	found = found || (newest && library_kind_below(&nvrtc_kind, newest, &path));
	mem_free(newest);
	if (found)
		*ret_path = path;
	else
		error_set(err, JW_ERR_NOT_FOUND, "no NVRTC in the environment or a toolkit");
	return found ? 0 : -1;
}
