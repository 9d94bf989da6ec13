/* Shared by the parts of cache/insert.h: additions, each written beside the cache's tree and judged
 * there, ready to be renamed into place. Everything uses the rights of the cache. */
#pragma once

#include "cache/live.h"
#include "code/cubin.h"

enum { STAGING_MAX_EXTRA = 4096 }; /* drivers accept bytes behind the value; none were ever seen */

struct live_staged {
	struct cache_addition *addition;
	char *path; /* NULL: the existing file is equal */
	char *target;
	bool replaces;
	bool moved; /* into place: nothing is left at `path` */
};

/* Removes what is staged. */
void staging_end(struct live_staged *staged);

/* Stages an addition in memory, or one in a file, of which one piece at a time is in memory
 * (reading the addition's own file uses our rights, not the cache's). A refused one is not a
 * failure: *ret_staged is untouched then. */
int stage_memory(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
				 size_t number, struct live_staged *ret_staged);
int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged);
/* Stages several in parts, with two threads. *ret_staged: their number, at the start of `staged` */
int stage_parts(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				size_t count, struct live_staged *staged, size_t *ret_staged);
