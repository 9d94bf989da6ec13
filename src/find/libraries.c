#include "find/libraries.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/text.h"
#include "find/sites.h"
#include "os/env.h"
#include "os/file.h"
#include "os/library.h"
#include "os/process.h"

/* Takes the newest version, which has the last name: libnvrtc.so < libnvrtc.so.11.2 <
 * libnvrtc.so.12. */
static char *identify_member(void *owner, const struct library_kind *kind, const char *folder)
{
	struct os_names names;
	char *best = NULL;

	if (os_list(NULL, folder, &names))
		return NULL;
	for (size_t i = names.count; i-- > 0 && !best;)
		if (names.kinds[i] == OS_REGULAR && kind->is(names.items[i]))
			best = arena_keep(owner, os_join(folder, names.items[i]));
	os_names_free(&names);
	return best;
}

char *library_below(void *owner, const struct library_kind *kind, const char *root)
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
										 "cu13/lib",
										 NULL};
	const char *const *const lists[] = {places, kind->folders};
	char *path = identify_member(owner, kind, root);

	for (size_t i = 0; i < 2; i++)
		for (const char *const *below = lists[i]; *below && !path; below++)
			path = identify_member(owner, kind, arena_keep(owner, os_join(root, *below)));
	return path;
}

char *library_of_package(struct jw_error *err, void *owner, const struct library_kind *kind,
						 const char *name)
{
	struct jw_found *found = NULL;
	char *path = NULL;

	if (jw_find(err, &(struct jw_find_options){.names = &name, .name_count = 1}, &found))
		return NULL;
	for (size_t i = 0; i < found->file_count && !path; i++)
		if (kind->is(os_base_name(found->files[i].path)))
			path = arena_string(owner, found->files[i].path);
	jw_result_free(found);
	return path;
}

char *library_named(struct jw_error *err, void *owner, const struct library_kind *kind,
					const char *name)
{
	struct jw_error why = {0};
	struct os_stat stat;
	char *path = NULL;

	if (!os_stat(NULL, name, &stat)) {
		if (stat.kind == OS_DIRECTORY && (path = library_below(owner, kind, name)))
			return path;
		if (stat.kind == OS_REGULAR)
			return os_real_path(err, name, &path) ? NULL : arena_keep(owner, path);
	}
	path = library_of_package(&why, owner, kind, name);
	if (!path && why.message[0])
		error_set(err, JW_ERR_NOT_FOUND, "%s %s: %s", kind->option, name, why.message);
	else if (!path)
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s %s: neither it nor a package that it requires contains %s (%s)", kind->option,
				  name, kind->called, kind->files);
	return path;
}

char *library_of_variable(void *owner, const struct library_kind *kind, const char *variable)
{
	const char *root = arena_keep(owner, os_env(variable));

	return root && os_is_whole_path(root) ? library_below(owner, kind, root) : NULL;
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

/* Adds a path, unless it is NULL, or in the list. */
static void add_outside(char *paths[NVRTC_OUTSIDE], size_t *count, char *path)
{
	for (size_t i = 0; path && i < *count; i++)
		if (!strcmp(paths[i], path))
			return;
	if (path)
		paths[(*count)++] = path;
}

size_t find_nvrtc_outside(void *owner, char *ret_paths[NVRTC_OUTSIDE])
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
		named = arena_keep(owner, os_env(variables[i])) || named;
		add_outside(ret_paths, &count, library_of_variable(owner, &nvrtc_kind, variables[i]));
	}
	path = named ? NULL : arena_keep(owner, os_cuda_toolkit(0, 0));
	if (path)
		add_outside(ret_paths, &count, library_below(owner, &nvrtc_kind, path));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (os_find_library(names[i], &path))
			add_outside(ret_paths, &count, arena_keep(owner, path));
	return count;
}

/* Conda's NVRTC is in the environment's own folders. */
static char *find_nvrtc_in(void *owner, const char *folder)
{
	static const char *const sites[] = {"site-packages", "dist-packages"};
	const char *kind = environment_kind(folder);
	bool may = kind && !strcmp(kind, "conda");

	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
		may = may || !strcmp(os_base_name(folder), sites[i]);
	return may ? library_below(owner, &nvrtc_kind, folder) : NULL;
}

char *find_nvrtc_beside(void *owner, const char *path)
{
	enum { MOST_ABOVE = 64 }; /* no environment has a file deeper */
	char *folder, *above, *found = NULL;

	if (os_real_path(NULL, arena_keep(owner, os_dir_name(path)), &folder))
		return NULL;
	(void)arena_keep(owner, folder);
	for (int levels = 0; levels < MOST_ABOVE && !found; levels++, folder = above) {
		found = find_nvrtc_in(owner, folder);
		above = arena_keep(owner, os_dir_name(folder));
		if (!strcmp(above, folder))
			break;
	}
	return found;
}

int jw_find_nvrtc(struct jw_error *err, const char *name, char **ret_path)
{
	const struct package_fact *package;
	void *owner = arena_open(0);
	const char *newest = name ? NULL : arena_keep(owner, os_cuda_toolkit(0, 0)),
			   *path = name ? library_named(err, owner, &nvrtc_kind, name) : NULL;

	for (size_t at = 0; !name && !path && (package = package_fact_next(nvrtc_kind.brought, &at));)
		path = library_of_package(NULL, owner, &nvrtc_kind, package->name);
	if (!name && !path)
		path = library_of_variable(owner, &nvrtc_kind, "CUDA_HOME");
	if (!name && !path)
		path = library_of_variable(owner, &nvrtc_kind, "CUDA_PATH");
	if (!path && newest)
		path = library_below(owner, &nvrtc_kind, newest);
	if (path)
		*ret_path = mem_string(path);
	else if (!name)
		error_set(err, JW_ERR_NOT_FOUND, "no NVRTC in the environment or a toolkit");
	jw_result_free(owner);
	return path ? 0 : -1;
}
