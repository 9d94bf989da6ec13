/* Finds NVRTC: in a toolkit, a wheel, a conda environment. */
#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/programs.h"

/* libnvrtc.so.12, nvrtc64_120_0.dll; but neither their builtins nor CUDA's "alt" variant. */
static bool is_nvrtc(const char *name)
{
	bool shared = text_starts(name, "libnvrtc.so");
	bool windows = text_starts(name, "nvrtc64_") && text_ends(name, ".dll");

	return (shared || windows) && !strstr(name, "alt");
}

/* The last name is the newest version: libnvrtc.so < libnvrtc.so.11.2 < libnvrtc.so.12. */
static bool look_into(const char *folder, char **ret_path)
{
	struct os_names names;
	const char *best = NULL;

	if (os_list(NULL, folder, &names))
		return false;
	for (size_t i = 0; i < names.count; i++)
		if (names.kinds[i] == OS_REGULAR && is_nvrtc(names.items[i]))
			best = names.items[i];
	if (best)
		*ret_path = os_join(NULL, folder, best);
	os_names_free(&names);
	return best && *ret_path;
}

/* Searches a toolkit, an environment, a wheel's folder, or the folder itself. */
static bool look_below(const char *root, char **ret_path)
{
	static const char *const places[] = {"lib64",
										 "lib",
										 "bin",
										 "bin/x64",
										 "targets/x86_64-linux/lib",
										 "targets/sbsa-linux/lib",
										 "Library/bin",
										 "nvidia/cuda_nvrtc/lib",
										 "nvidia/cuda_nvrtc/bin",
										 "nvidia/cu13/lib",
										 "nvidia/cu13/bin/x86_64",
										 "cuda_nvrtc/lib",
										 "cu13/lib"};

	if (look_into(root, ret_path))
		return true;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *folder = os_join(NULL, root, places[i]);
		bool found = folder && look_into(folder, ret_path);

		mem_free(folder);
		if (found)
			return true;
	}
	return false;
}

/* The NVRTC of a package, or of a package that it requires. */
static bool look_in_package(struct jw_error *err, const char *name, char **ret_path)
{
	struct jw_found *found = NULL;
	bool is_there = false;

	if (jw_find(err,
				&(struct jw_find_options){
					.size = sizeof(struct jw_find_options), .names = &name, .name_count = 1},
				&found))
		return false;
	for (size_t i = 0; i < found->file_count && !is_there; i++)
		if (is_nvrtc(os_base_name(found->files[i].path))) {
			*ret_path = mem_string(err, found->files[i].path);
			is_there = *ret_path != NULL;
		}
	jw_found_free(found);
	return is_there;
}

static int look_where_named(struct jw_error *err, const char *name, char **ret_path)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (!os_stat(NULL, name, &stat)) {
		if (stat.kind == OS_DIRECTORY && look_below(name, ret_path))
			return 0;
		if (stat.kind == OS_REGULAR)
			return os_real_path(err, name, ret_path);
	}
	if (look_in_package(&why, name, ret_path))
		return 0;
	return error_set(err, JW_ERR_NOT_FOUND, "--nvrtc %s: %s%s", name,
					 why.message[0] ? why.message
									: "neither it nor a package that it requires brings an NVRTC",
					 why.message[0] ? "" : " (libnvrtc.so, nvrtc64_*.dll)");
}

static bool look_in_toolkit(char **ret_path)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
	char *newest;
	bool found = false;

	for (size_t i = 0; i < sizeof variables / sizeof *variables && !found; i++) {
		char *root = os_env(variables[i]);

		found = root && os_is_whole_path(root) && look_below(root, ret_path);
		mem_free(root);
	}
	newest = os_cuda_toolkit(0, 0);
	found = found || (newest && look_below(newest, ret_path));
	mem_free(newest);
	return found;
}

int jw_find_nvrtc(struct jw_error *err, const char *name, char **ret_path)
{
	static const char *const packages[] = {"nvidia-cuda-nvrtc",
										   "nvidia-cuda-nvrtc-cu13",
										   "nvidia-cuda-nvrtc-cu12",
										   "nvidia-cuda-nvrtc-cu11",
										   "cuda-nvrtc",
										   "cudatoolkit"};
	char *path = NULL;
	bool found = false;

	if (name)
		return look_where_named(err, name, ret_path);
	for (size_t i = 0; i < sizeof packages / sizeof *packages && !found; i++)
		found = look_in_package(NULL, packages[i], &path);
	if (!found)
		found = look_in_toolkit(&path);
	if (found)
		*ret_path = path;
	else
		error_set(err, JW_ERR_NOT_FOUND, "no NVRTC in the environment or a toolkit");
	return found ? 0 : -1;
}
