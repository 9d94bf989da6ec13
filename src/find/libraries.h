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

/* Returns the library in a toolkit, an environment, a wheel's folder, or the folder itself; NULL if
 * there is none. For all functions here, `owner` keeps the path (base/arena.h). */
char *library_below(void *owner, const struct library_kind *kind, const char *root);
/* Returns that of a package of the active environment, and of the packages that it requires. */
char *library_of_package(struct jw_error *err, void *owner, const struct library_kind *kind,
						 const char *name);
/* Returns the library that a user names by a file, a folder or a package. NULL: JW_ERR_NOT_FOUND.
 */
char *library_named(struct jw_error *err, void *owner, const struct library_kind *kind,
					const char *name);
/* Returns that of the folder in CUDA_HOME or CUDA_PATH. */
char *library_of_variable(void *owner, const struct library_kind *kind, const char *variable);

/* Finds the NVRTCs outside environments: those of CUDA_HOME and CUDA_PATH, else that of
 * /usr/local/cuda, and those that a program gets by name (os_find_library). Returns how many there
 * are. */
enum { NVRTC_OUTSIDE = 8 };
size_t find_nvrtc_outside(void *owner, char *ret_paths[NVRTC_OUTSIDE]);

/* Returns the NVRTC of the environment in whose site-packages a file lies, active or not; NULL if
 * there is none in the 64 folders above. */
char *find_nvrtc_beside(void *owner, const char *path);
