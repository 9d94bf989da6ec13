/* Merges many packs of a store into few: each prime that compiled something leaves one. */
#pragma once

#include <jitwarm/store.h>

/* Merges those small packs of the store that are for the same GPUs and drivers, if there are
 * `least` of them or more. The caller holds the store's lock. The old packs are removed after the
 * new one was synced and read to its end; it gets the date of the newest of them. Killed at any
 * moment, no entry is lost, but some may be there twice. Packs that do not match stay.
 * `count_merged` counts removed packs, `count_made` the packs made of them. */
int store_merge(struct jw_error *err, const struct jw_store *store, size_t least,
				size_t *count_merged, size_t *count_made);
