/* Whether an entry exists, by its header and size only, for each module of `check` and `prime`. A
 * call takes a few microseconds; cache/sound.h hashes values, cache/verified.h remembers the
 * results. */
#pragma once

#include <stdint.h>

#include "cache/entry.h"

enum cache_presence {
	CACHE_ABSENT,
	CACHE_PRESENT,  /* a hit, unless its value is damaged */
	CACHE_UNUSABLE, /* exists, but the driver will compile the module: damaged, unreadable, not a
					   regular file */
};

/* Facts by which a caller can detect later that the file has changed. */
struct cache_probed {
	uint64_t size_bytes, inode;
	int64_t mtime_ns, changed_ns;
	uint64_t key_bytes, value_bytes, checksum; /* as the header says */
	enum cache_damage damage;
};

/* Looks for `key` below `dir`. `key_bytes`: the expected length of its key, 0 if unknown.
 * *ret_probed (may be NULL) is set unless the entry is absent. */
enum cache_presence cache_presence(const char *dir, uint64_t key, uint64_t key_bytes,
								   struct cache_probed *ret_probed);
/* The same. -1: out of memory, which says nothing about it (CACHE_UNUSABLE, CACHE_DAMAGE_READ). */
int cache_look_up(struct jw_error *err, const char *dir, uint64_t key, uint64_t key_bytes,
				  struct cache_probed *ret_probed, enum cache_presence *ret_presence);
