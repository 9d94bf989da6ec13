/* The files of named paths: a file itself, or the files below a directory. */
#pragma once

#include "base/error.h"
#include "find/found.h"

/* Adds the file at `path`, whatever its name, or the files below the directory at `path` that may
 * hold device code. `stat` is that of the path. Any other kind of file, and a file whose content is
 * of a kind that holds none (JW_ERR_USAGE), becomes a trouble in the list. */
int named_path_take(struct jw_error *err, struct found_list *list, const char *path,
					const struct os_stat *stat);

/* Adds the file or directory at `path`, whose stat it reads; a missing path becomes a trouble. */
int named_path_find(struct jw_error *err, struct found_list *list, const char *path);
/* Finds the files of all paths, each once, also CUDA C sources if `sources` is set (jw_find). The
 * caller frees the result with jw_result_free. JW_ERR_INTERRUPTED if cancelled. */
int named_paths_find(struct jw_error *err, const char *const *paths, size_t count, bool sources,
					 struct jw_cancel cancel, struct jw_found **ret_found);
