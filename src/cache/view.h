/* A cache directory as verify and list see it: its files and its index at one moment, without the
 * lock. If a driver inserts meanwhile, the two may differ by the entry that it adds. */
#pragma once

#include <jitwarm/cache.h>

#include "base/set.h"
#include "cache/cache_files.h"
#include "cache/index.h"

/* Finds and reads the directory that `options` name; a missing live cache is empty. `look`:
 * cache_files_scan, or cache_files_sizes if the caller opens the entries anyway. */
int cache_view_open(struct jw_error *err, const struct jw_cache_options *options,
					cache_files_fn look, char **ret_path, uint64_t *ret_limit_bytes,
					struct cache_files *ret_scan, struct cache_index *ret_index);

/* Reads only the index; waits for one that is being written. */
int cache_view_index(struct jw_error *err, const char *dir, struct cache_index *ret_index);

/* Each row's position by its key; returns the first row of a key first. */
int cache_index_map(struct jw_error *err, const struct cache_index *index, struct set *ret_rows);
