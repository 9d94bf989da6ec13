/* Where a library of NVIDIA's compilers may be: in a toolkit, a wheel, a conda environment. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "find/found.h"

struct library_kind {
	const char *option;           /* with which a user names one: "--nvrtc" */
	const char *called;           /* "an NVRTC" */
	const char *files;            /* "libnvrtc.so, nvrtc64_*.dll" */
	bool (*is)(const char *name); /* a file's name, without its folder */
	const char *const *packages;  /* that bring one; NULL at the end */
	const char *const *folders;   /* below an environment's packages; NULL at the end */
};

/* Searches a toolkit, an environment, a wheel's folder, or the folder itself. The caller frees
 * *ret_path, as it does those of the others. */
bool library_kind_below(const struct library_kind *kind, const char *root, char **ret_path);
/* Of a package of the active environment, or of one that it requires. */
bool library_kind_of_package(struct jw_error *err, const struct library_kind *kind,
							 const char *name, char **ret_path);
/* The one that a user names: a file, a folder, a package. JW_ERR_NOT_FOUND. */
int library_kind_named(struct jw_error *err, const struct library_kind *kind, const char *name,
					   char **ret_path);
/* Of CUDA_HOME or CUDA_PATH. */
bool library_kind_of_variable(const struct library_kind *kind, const char *variable,
							  char **ret_path);

/* The files of named paths: a file itself, or the files below a directory. */

/* Adds the file at `path`, whatever its name, or the files below the directory at `path` that may
 * hold device code. `stat` is the path's. Any other kind of file, and a file whose content is of a
 * kind that holds none (JW_ERR_USAGE), becomes a trouble in the list. */
int named_path_take(struct jw_error *err, struct found_list *list, const char *path,
					const struct os_stat *stat);

/* The same with its own stat; a missing path becomes a trouble. */
int named_path_find(struct jw_error *err, struct found_list *list, const char *path);
/* The files of all paths, each once. -1: out of memory. The caller frees with jw_found_free. */
int named_paths_find(struct jw_error *err, const char *const *paths, size_t count,
					 struct jw_found **ret_found);
