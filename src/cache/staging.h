/* Shared by the parts of cache/insert.h: additions, each written beside the cache's tree and judged
 * there, ready to be renamed into place. Everything uses the rights of the cache. */
#pragma once

#include "cache/live.h"
#include "devcode/cubin.h"

enum { STAGING_MOST_EXTRA = 4096 }; /* drivers accept bytes behind the value; none were ever seen */

struct live_staged {
	struct cache_addition *addition;
	char *path; /* NULL: the existing file is equal */
	char *target;
	bool replaces;
	bool taken; /* it is the addition's own file, which is moved back unless it gets into place */
	bool moved; /* into place: nothing is left at `path` */
};

/* Removes the remains of killed processes beside the tree that are older than an hour. */
void staging_clean(const char *dir);

/* Names the staged file, and makes its folder and its target's. */
int staging_begin(struct jw_error *err, const struct cache_live *live, struct live_staged *staged,
				  size_t number);
/* Sets the permissions that the directory's readers need. */
int staging_share(struct jw_error *err, const struct cache_live *live,
				  const struct live_staged *staged);
/* Undoes staging_begin; an addition's own file is moved back. */
void staging_give_back(struct live_staged *staged);
void staging_end(struct live_staged *staged);

/* Whether it is the expected entry with the expected cubin: `name` and `checksum` are the hashes of
 * its key and value, `read` reads its value. */
int staging_judge(struct jw_error *err, const struct cache_addition *addition,
				  const struct cache_entry *entry, uint64_t name, uint64_t checksum,
				  cubin_read_fn read, void *context);

/* Stages an addition in memory, or one in a file, of which one piece at a time is in memory
 * (reading the addition's own file uses our rights, not the cache's). A refused one is not a
 * failure: *ret_staged is untouched then. */
int stage_memory(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
				 size_t number, struct live_staged *ret_staged);
int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged);
/* Stages several in parts, with two threads. *ret_staged: their number; they are at the start of
 * `staged`. */
int stage_parts(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				size_t count, struct live_staged *staged, size_t *ret_staged);
