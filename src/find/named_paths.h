/* The files behind paths that somebody names: a file is itself, a directory what lies below it. */
#ifndef JW_FIND_NAMED_PATHS_H
#define JW_FIND_NAMED_PATHS_H

#include "find/found.h"

/* Adds what is at `path`, of which `stat` tells: a file whatever its name is, or the files below a
 * directory that may hold device code. What is neither becomes a trouble in the list. */
int named_path_take(struct jw_error *err, struct found_list *list, const char *path,
					const struct os_stat *stat);

/* The same, without a look at it before: what is not there becomes a trouble. */
int named_path_find(struct jw_error *err, struct found_list *list, const char *path);
/* The files behind all paths, each once. -1: out of memory. The caller frees with jw_found_free. */
int named_paths_find(struct jw_error *err, const char *const *paths, size_t count,
					 struct jw_found **ret_found);

#endif
