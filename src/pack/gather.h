/* Collects the entries of a cache directory for a pack. Every entry is read and checked as an
 * import will check it, on all cores. */
#pragma once

#include <jitwarm/pack.h>

#include "base/hash.h"
#include "base/set.h"
#include "pack/manifest.h"

enum { GATHER_LEAD = 64 };

struct gathered {
	struct pack_entry entry; /* driver, ptx and cubin are not set */
	char stamp[CACHE_STAMP_SIZE + 1];
	struct digest payload, cubin;
	uint64_t payload_bytes, cubin_bytes, file_bytes;
	int64_t mtime_ns;       /* shows whether the file has changed since */
	char lead[GATHER_LEAD]; /* the payload's first kernel: modules with similar names compress best
							   next to each other */
};

struct gather {
	struct gathered *items; /* sorted by lead, then payload, then cubin, then key */
	size_t count;
};

/* Gathers the entries, and counts those that are skipped in `result`, by reason. */
int gather_cache(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				 struct gather *ret_gather, struct jw_export_result *result);
void gather_free(struct gather *gather);

/* Reads a gathered entry's file again, with its parts at the same offsets; JW_ERR_BUSY if it has
 * changed since or was removed. The caller owns `bytes`. */
struct gather_parts {
	const uint8_t *payload, *cubin;
};
int gather_read(struct jw_error *err, const char *dir, const struct gathered *item,
				struct buf *bytes, struct gather_parts *ret_parts);

/* The entries of modules: names, and whose entries they must be. */
struct wanted_entries {
	struct set keys; /* the places of identities by name */
	struct jw_identity *identities;
};
/* Returns whether an entry with this name is one of them, or, with `identity` NULL, may be. */
bool wanted_has(const struct wanted_entries *wanted, uint64_t key,
				const struct jw_identity *identity);
void wanted_free(struct wanted_entries *wanted);

/* Lists the entries of the modules in options->found, or else options->paths, warm or not, under
 * the system's driver, for the given GPUs or else the system's. JW_ERR_USAGE if the driver's names
 * or the GPUs are unknown. The caller frees the list. */
int wanted_of_paths(struct jw_error *err, const struct jw_export_options *options,
					struct wanted_entries *ret_wanted);
