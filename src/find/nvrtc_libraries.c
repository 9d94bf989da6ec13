/* Finds NVRTC: in a toolkit, a wheel, a conda environment. */
#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/text.h"
#include "find/library_kind.h"
#include "os/programs.h"

/* libnvrtc.so.12, nvrtc64_120_0.dll; but neither their builtins nor CUDA's "alt" variant. */
static bool is_nvrtc(const char *name)
{
	bool shared = text_starts(name, "libnvrtc.so");
	bool windows = text_starts(name, "nvrtc64_") && text_ends(name, ".dll");

	return (shared || windows) && !strstr(name, "alt");
}

static const char *const packages[] = {"nvidia-cuda-nvrtc",
									   "nvidia-cuda-nvrtc-cu13",
									   "nvidia-cuda-nvrtc-cu12",
									   "nvidia-cuda-nvrtc-cu11",
									   "cuda-nvrtc",
									   "cudatoolkit",
									   NULL};
static const char *const folders[] = {"nvidia/cuda_nvrtc/lib", "nvidia/cuda_nvrtc/bin",
									  "cuda_nvrtc/lib", NULL};
static const struct library_kind nvrtc_kind = {
	.option = "--nvrtc",
	.called = "an NVRTC",
	.files = "libnvrtc.so, nvrtc64_*.dll",
	.is = is_nvrtc,
	.packages = packages,
	.folders = folders,
};

static bool look_in_toolkit(char **ret_path)
{
	char *newest;
	bool found = library_kind_of_variable(&nvrtc_kind, "CUDA_HOME", ret_path) ||
				 library_kind_of_variable(&nvrtc_kind, "CUDA_PATH", ret_path);

	newest = os_cuda_toolkit(0, 0);
	found = found || (newest && library_kind_below(&nvrtc_kind, newest, ret_path));
	mem_free(newest);
	return found;
}

int jw_find_nvrtc(struct jw_error *err, const char *name, char **ret_path)
{
	char *path = NULL;
	bool found = false;

	if (name)
		return library_kind_named(err, &nvrtc_kind, name, ret_path);
	for (size_t i = 0; packages[i] && !found; i++)
		found = library_kind_of_package(NULL, &nvrtc_kind, packages[i], &path);
	if (!found)
		found = look_in_toolkit(&path);
	if (found)
		*ret_path = path;
	else
		error_set(err, JW_ERR_NOT_FOUND, "no NVRTC in the environment or a toolkit");
	return found ? 0 : -1;
}
