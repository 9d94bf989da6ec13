/* Whether entries' files are sound: names and checksums, as a driver checks them, and machine code
 * that the driver loads, if the stamp in the key is a known driver's or the current one's. Files
 * are read in pieces, whatever their size, and several side by side, which makes hashing fast
 * (base/hash.h). They are read, not mapped: a driver rewrites a damaged entry in place. */
#pragma once

#include <stdatomic.h>

#include "base/cancel.h"
#include "cache/brief.h"
#include "cache/loads.h"

struct cache_sounding {
	const char *dir;
	struct sound_driver driver; /* zeros: known drivers only */
	void *context;
	struct jw_cancel cancel; /* polled between files */
	atomic_size_t *next; /* the next file, for several calls that share the files; NULL: one call */
	/* Called once for each, in any order; `brief` is NULL unless the entry is sound. */
	int (*judged)(struct jw_error *err, void *context, size_t at, enum cache_damage damage,
				  const struct cache_brief *brief);
};

/* `keys`: the entries' names. Files that cannot be opened are CACHE_DAMAGE_READ. Takes 300 KB. */
int cache_sound_all(struct jw_error *err, const struct cache_sounding *how, const uint64_t *keys,
					size_t count);

/* Judges one entry. CACHE_DAMAGE_READ and err set: out of memory. */
enum cache_damage cache_sound(struct jw_error *err, const char *dir, struct sound_driver driver,
							  uint64_t key);
