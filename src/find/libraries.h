/* Finds a library of NVIDIA's compilers in a toolkit, a wheel or a conda environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library_kind {
	const char *option;           /* the option with which a user names one: "--nvrtc" */
	const char *called;           /* "an NVRTC" */
	const char *files;            /* "libnvrtc.so, nvrtc64_*.dll" */
	bool (*is)(const char *name); /* whether a file's name, without its folder, is one */
	const char *brought;          /* the rows in packages.tsv of packages that contain one */
	const char *const *folders;   /* folders below an environment's packages; NULL at the end */
};

/* Searches a toolkit, an environment, a wheel's folder, or the folder itself. For all functions
 * here, the caller frees *ret_path. */
bool library_kind_below(const struct library_kind *kind, const char *root, char **ret_path);
/* Searches a package of the active environment, and the packages that it requires. */
bool library_kind_of_package(struct jw_error *err, const struct library_kind *kind,
							 const char *name, char **ret_path);
/* Finds the library that a user names by a file, a folder or a package. JW_ERR_NOT_FOUND. */
int library_kind_named(struct jw_error *err, const struct library_kind *kind, const char *name,
					   char **ret_path);
/* Searches the folder in CUDA_HOME or CUDA_PATH. */
bool library_kind_of_variable(const struct library_kind *kind, const char *variable,
							  char **ret_path);

/* Finds the NVRTCs outside environments: those of CUDA_HOME and CUDA_PATH, else that of
 * /usr/local/cuda, and those that a program gets by name (os_find_library). Returns how many there
 * are; the caller frees each. */
enum { NVRTC_OUTSIDE = 8 };
size_t find_nvrtc_outside(char *ret_paths[NVRTC_OUTSIDE]);

/* Finds the NVRTC of the environment in whose site-packages a file lies, active or not; false if
 * there is none in the 64 folders above. The caller frees the path. */
bool find_nvrtc_beside(const char *path, char **ret_path);
