/* The files of named paths: a file itself, or the files below a directory. */
#pragma once

#include "find/found.h"

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
