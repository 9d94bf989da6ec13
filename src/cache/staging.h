/* Between the parts of cache/insert.h: additions, each written beside the cache's tree and judged
 * there, ready to be renamed into place. All of it is done with the rights of the cache. */
#pragma once

#include "cache/live.h"
#include "devcode/cubin.h"

enum {
	STAGING_MOST_EXTRA = 4096
}; /* drivers accept bytes behind the value; such bytes were never seen */

struct live_staged {
	struct cache_addition *addition;
	char *path; /* NULL: the file in place is the same already */
	char *target;
	bool replaces;
	bool taken; /* it is the addition's own file, which goes back unless it is moved into place */
	bool moved; /* into place: nothing is left at `path` */
};

/* Removes the remains of killed processes beside the tree that are older than an hour. */
void staging_clean(const char *dir);

/* Names the staged file, and makes the folders for it and for its target. */
int staging_begin(struct jw_error *err, const struct cache_live *live, struct live_staged *staged,
				  size_t number);
/* The folder that the target goes into, one level after the other. */
int staging_make_folder(struct jw_error *err, const struct cache_live *live, const char *target);
/* Sets the permissions that the directory's readers need. */
int staging_share(struct jw_error *err, const struct cache_live *live,
				  const struct live_staged *staged);
/* Undoes staging_begin, which has been; an addition's own file goes back to where it was. */
void staging_give_back(struct live_staged *staged);
void staging_end(struct live_staged *staged);

/* Whether it is the wanted entry with the wanted cubin: `name` and `checksum` are the hashes of its
 * key and value, `read` reads its value. */
int staging_judge(struct jw_error *err, const struct cache_addition *addition,
				  const struct cache_entry *entry, uint64_t name, uint64_t checksum,
				  cubin_read_fn read, void *context);

/* An addition in memory, and one in a file, a piece of which is in memory at a time (it leaves the
 * cache's rights to read the addition's own file). One that is refused is no failure: *ret_staged
 * is untouched then. */
int stage_memory(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
				 size_t number, struct live_staged *ret_staged);
int stage_file(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged);
/* Several in parts, by two threads. *ret_staged: so many were staged, the first in `staged`. */
int stage_parts(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				size_t count, struct live_staged *staged, size_t *ret_staged);
