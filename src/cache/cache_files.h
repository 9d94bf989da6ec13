/* Walking a cache directory: the files that are entries by their place and name, and how many are
 * not. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cache/presence.h"

/* No driver makes a cache with more files than this (4 GiB at most). */
enum { CACHE_MOST_FILES = 4 << 20 };

struct cache_file {
	uint64_t key;
	uint64_t row_bytes; /* key and value, by the header; 0 where it is damaged */
	struct cache_probed probed;
};

struct cache_files {
	struct cache_file *files; /* by key */
	size_t count, capacity;
	size_t foreign; /* files and folders that are no part of a cache, `index` and jitwarm's own
					   folders aside */
};

/* Looks at every entry's header. JW_ERR_NOT_FOUND where there is no such directory. The caller
 * frees it. */
int cache_files_scan(struct jw_error *err, const char *dir, struct cache_files *ret_scan);
/* The same without opening any: `probed` has sizes and times alone, and CACHE_DAMAGE_READ for what
 * is no file. */
int cache_files_sizes(struct jw_error *err, const char *dir, struct cache_files *ret_scan);
typedef int (*cache_files_fn)(struct jw_error *err, const char *dir, struct cache_files *ret_scan);
void cache_files_free(struct cache_files *scan);
/* NULL if there is no such file. */
const struct cache_file *cache_files_find(const struct cache_files *scan, uint64_t key);

/* The folder of files before they are renamed into the tree. It is beside the tree, since a wipe
 * goes through the tree's folders only (measured: names at the top are left alone). */
#define CACHE_STAGING_PREFIX ".jitwarm-"
