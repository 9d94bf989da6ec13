/* What of a cache directory goes into a pack: every entry read and checked as an import will check
 * it, on all cores. */
#pragma once

#include <jitwarm/pack.h>

#include "base/hash.h"
#include "pack/manifest.h"

enum { GATHER_LEAD = 64 };

struct gathered {
	struct pack_entry entry; /* driver, ptx and cubin are not set */
	char stamp[CACHE_STAMP_SIZE + 1];
	struct digest payload, cubin;
	uint64_t payload_bytes, cubin_bytes, file_bytes;
	int64_t mtime_ns;       /* tells whether the file has changed since */
	char lead[GATHER_LEAD]; /* the payload's first kernel: those of like name compress best side by
							   side */
};

struct gather {
	struct gathered *items; /* by lead, then payload, then cubin, then key */
	size_t count;
};

/* Counts into `result` what is left out, and why. */
int gather_cache(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				 struct gather *ret_gather, struct jw_export_result *result);
void gather_free(struct gather *gather);

/* An entry's file as it was gathered, whose parts are where they were; JW_ERR_BUSY where it has
 * changed since. `bytes` is the caller's. */
struct gather_parts {
	const uint8_t *payload, *cubin;
};
int gather_read(struct jw_error *err, const char *dir, const struct gathered *item,
				struct buf *bytes, struct gather_parts *ret_parts);
