/* Inserts a worker's entry into the live cache, after checking it. No other code does. */
#pragma once

#include <stdbool.h>

#include "plan/plan.h"

/* The result of a compile in a worker's private cache. */
struct collected {
	enum {
		COLLECTED,         /* the entry that was predicted */
		COLLECTED_NOTHING, /* the driver made no entry: there was nothing to compile */
		COLLECTED_FOREIGN, /* an entry with another name: this driver's form is unknown, or it chose
							  differently than predicted */
	} what;
	char *path; /* the path of the entry's file; NULL if there is none */
	uint64_t key;
};

struct cache_live;

/* Looks for the entry that a worker has made of `module` in its private cache directory. The caller
 * frees its path. `at_once` is the number of workers that write at the same time. -1 if their disk
 * is full. */
int collect_find(struct jw_error *err, const char *private_dir, const struct plan *plan,
				 const struct plan_module *module, unsigned at_once,
				 struct collected *ret_collected);
/* Checks that entry (key, checksum, a cubin for this architecture) and inserts it into the live
 * cache; a foreign one by its own name. -1: JW_ERR_FORMAT if it is unsound, JW_ERR_BUSY if the
 * cache's lock is refused, other codes if the cache cannot be written; then the file stays.
 * Otherwise it has been moved. 1 with a message in `err` if a sound entry of another module has its
 * name; the file stays. */
int collect_insert(struct jw_error *err, struct cache_live *live, const struct collected *collected,
				   const struct plan *plan, const struct plan_module *module,
				   int64_t *ret_grown_bytes);
/* Returns whether the workers' disk has no room for so many bytes; err then has a message. A driver
 * does not report that: it leaves a torn entry, or deletes what it could not write. */
bool collect_disk_is_full(struct jw_error *err, const char *private_dir, uint64_t wanted_bytes);
