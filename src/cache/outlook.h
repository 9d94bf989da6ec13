/* Predicts what a driver will do with a cache in its present state: from its index, and its files
 * if they matter. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>

#include "cache/index.h"

/* Predicts from an index and the number of files beside it. */
void cache_outlook_of(const struct cache_index *index, size_t files, uint64_t file_bytes,
					  uint64_t limit_bytes, struct jw_cache_outlook *ret_outlook);
/* Predicts for a directory, without the lock. Counts files if `count` requests it or the index is
 * unsound; otherwise entries and bytes come from the index. Never fails: an unreadable index is
 * "unknown". */
void cache_outlook(const char *dir, uint64_t limit_bytes, bool count,
				   struct jw_cache_outlook *ret_outlook);
