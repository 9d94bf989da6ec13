/* Many packs of a store into few: each prime that compiled something leaves one. */
#pragma once

#include <jitwarm/store.h>

/* Makes one of those small packs of the store that are for the same GPUs and drivers, where there
 * are `least` of them or more. The caller has the store's lock. The old ones go when the new one is
 * on disk and was read to the end; it is as old as the newest of them. Killed at any moment, all is
 * there, some of it twice. Packs that do not go together stay as they are. `count_merged` counts
 * packs that are gone, `count_made` what they have become. */
int store_merge(struct jw_error *err, const struct jw_store *store, size_t least,
				size_t *count_merged, size_t *count_made);
