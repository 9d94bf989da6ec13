/* What a driver will do with a cache as it is: by its index, and the files where those matter. */
#pragma once

#include <jitwarm/cache.h>

#include "cache/index.h"

/* By an index and the files beside it. */
void cache_outlook_of(const struct cache_index *index, size_t files, uint64_t file_bytes,
					  uint64_t limit_bytes, struct jw_cache_outlook *ret_outlook);
/* Of a directory, without the lock. Files are counted where `count` asks for it or the index is not
 * sound; else entries and bytes are the index's. It never fails: of what cannot be read the index
 * is "unknown". */
void cache_outlook(const char *dir, uint64_t limit_bytes, bool count,
				   struct jw_cache_outlook *ret_outlook);
