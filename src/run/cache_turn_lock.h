/* Whose turn it is: several runs that prime the same cache work one after the other, and each finds
 * warm what those before it have done. A lock beside the cache's tree tells; its holder's name
 * stands in a file next to it. A lock ends with the process that holds it, however that ends. */
#pragma once

#include <stdbool.h>

#include "base/cancel.h"

struct cache_turn {
	struct os_file *lock; /* NULL where none is held */
	char *lock_path, *holder_path;
	bool waited;
};

struct cache_turn_wait {
	void *context;
	void (*message)(void *context, const char *line); /* for whom we wait; may be NULL */
	struct jw_cancel cancel;
};

/* Waits until nobody else primes this cache. Where files cannot be locked it is everybody's turn.
 * JW_ERR_INTERRUPTED: it was cancelled. */
int cache_turn_take(struct jw_error *err, const char *cache_dir, const struct cache_turn_wait *wait,
					struct cache_turn *ret_turn);
/* One that was never taken ({0}) is fine. */
void cache_turn_end(struct cache_turn *turn);
