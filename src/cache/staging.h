/* The parts of cache/insert.h share these: additions, each written beside the cache's tree and
 * judged there, ready to be renamed into place. All calls use the rights of the cache. */
#pragma once

#include "cache/live.h"

enum {
	STAGING_MAX_EXTRA = 4096
}; /* the most bytes after the value; drivers accept such bytes, but none were ever seen */

struct live_staged {
	struct cache_addition *addition;
	char *path; /* NULL if the existing file is equal */
	char *target;
	bool replaces;
	struct jw_identity identity;
	bool moved; /* renamed into place: nothing is left at `path` */
};

/* Returns whether a sound entry of another module has the name; then the addition is refused
 * (CACHE_ADDED_TAKEN). A damaged entry is replaced. */
bool staging_is_taken(const struct cache_live *live, const struct live_staged *staged);
/* Removes the staged file. */
void staging_end(struct live_staged *staged);

/* Stage an addition in memory, or one in a file, which is read in pieces (with our own rights, not
 * the cache's). A refused addition is not a failure; then *ret_staged is untouched. */
int stage_memory(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
				 size_t number, struct live_staged *ret_staged);
int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged);
/* Stages several additions in parts, with two threads. *ret_staged is the number that was staged,
 * at the start of `staged`. */
int stage_parts(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				size_t count, struct live_staged *staged, size_t *ret_staged);
