/* Removes entries from a cache that drivers are using. The rules of cache/insert.h apply here too:
 * files are removed before their rows, since a row without a file does no harm; the index never
 * makes a driver wipe the cache; the lock is held for CACHE_HOLD_MS at a time. */
#pragma once

#include "cache/entry.h"
#include "cache/insert.h"
#include "cache/sound.h"

enum cache_removed {
	CACHE_REMOVED_NOT, /* not tried: cache_remove failed before */
	CACHE_REMOVED,
	CACHE_REMOVED_GONE,    /* removed by another process */
	CACHE_REMOVED_CHANGED, /* changed since it was judged, so it stays */
};

struct cache_removal {
	uint64_t key;
	struct cache_probed probed; /* the file when it was judged */
	enum cache_removed removed; /* set by cache_remove */
};

/* Removes, in order, the entries that have not changed. JW_ERR_BUSY if the lock is refused,
 * JW_ERR_UNSUPPORTED for an index of another version (removes nothing), JW_ERR_IO. */
int cache_remove(struct jw_error *err, struct cache_live *live, struct cache_removal *removals,
				 size_t count);

/* Makes rows and files agree after the last removal: a driver that had the lock just before may
 * have written rows back, and a total that counts them. */
int cache_remove_settle(struct jw_error *err, struct cache_live *live);

/* Returns whether an entry may be removed: its damage is understood, and no driver will ever use
 * it. Reads the file again; *ret_removal then describes what was judged. */
bool repair_may_remove(const char *dir, struct sound_driver driver, uint64_t key,
					   struct cache_removal *ret_removal);
