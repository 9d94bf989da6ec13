/* Finds a library of NVIDIA's compilers in a toolkit, a wheel or a conda environment. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "find/found.h"

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

/* ---- the files of named paths: a file itself, or the files below a directory */

/* Adds the file at `path`, whatever its name, or the files below the directory at `path` that may
 * hold device code. `stat` is that of the path. Any other kind of file, and a file whose content is
 * of a kind that holds none (JW_ERR_USAGE), becomes a trouble in the list. */
int named_path_take(struct jw_error *err, struct found_list *list, const char *path,
					const struct os_stat *stat);

/* Adds the file or directory at `path`, whose stat it reads; a missing path becomes a trouble. */
int named_path_find(struct jw_error *err, struct found_list *list, const char *path);
/* Finds the files of all paths, each once, also CUDA C sources if `sources` is set (jw_find). The
 * caller frees the result with jw_found_free. JW_ERR_INTERRUPTED if cancelled. */
int named_paths_find(struct jw_error *err, const char *const *paths, size_t count, bool sources,
					 struct jw_cancel cancel, struct jw_found **ret_found);
