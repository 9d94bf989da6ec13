/* Whether entries' files are sound: names and checksums, as a driver checks them, and machine code
 * that the driver loads, where the stamp in the key is a known driver's or that of the one at hand.
 * Files are read a piece at a time, however large they are, and several side by side, since that is
 * how hashes are fast (base/hash.h). They are read, not mapped: a driver rewrites a damaged entry
 * in place. */
#pragma once

#include <stdatomic.h>

#include "base/cancel.h"
#include "cache/brief.h"
#include "cache/loads.h"

struct cache_sounding {
	const char *dir;
	struct sound_driver driver; /* zeros: known drivers alone */
	void *context;
	struct jw_cancel cancel; /* asked between files */
	atomic_size_t *next; /* of several calls that share the files: the next one; NULL: one call */
	/* Once for each, in any order; `brief` is NULL unless it is sound. */
	int (*judged)(struct jw_error *err, void *context, size_t at, enum cache_damage damage,
				  const struct cache_brief *brief);
};

/* `keys`: the entries' names. Files that cannot be opened are CACHE_DAMAGE_READ. Takes 300 KB. */
int cache_sound_all(struct jw_error *err, const struct cache_sounding *how, const uint64_t *keys,
					size_t count);

/* One of them. */
enum cache_damage cache_sound(const char *dir, struct sound_driver driver, uint64_t key);
