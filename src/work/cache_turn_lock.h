/* Turns among runs that prime the same cache: they run one after the other, and each finds the
 * earlier runs' modules warm. The lock is a file beside the cache's tree; another file names its
 * holder. A lock always ends with the process that holds it. */
#pragma once

#include <stdbool.h>

#include "base/cancel.h"

struct cache_turn {
	struct os_file *lock; /* NULL if no lock is held */
	char *lock_path, *holder_path;
	bool waited;
};

struct cache_turn_wait {
	void *context;
	void (*message)(
		void *context,
		const char *line); /* receives the name of the run that we wait for; may be NULL */
	struct jw_cancel cancel;
};

/* Waits until no other run primes this cache. Does not wait if files cannot be locked.
 * JW_ERR_INTERRUPTED if cancelled. */
int cache_turn_take(struct jw_error *err, const char *cache_dir, const struct cache_turn_wait *wait,
					struct cache_turn *ret_turn);
/* Ends the turn; {0}, never taken, is valid. */
void cache_turn_end(struct cache_turn *turn);
