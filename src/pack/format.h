/* The pack: entries of drivers' caches in one portable file. docs/internals/formats.md has its
 * grammar. The limits here are those of a reader. */
#pragma once

#include <stdint.h>

enum {
	PACK_TRAILER_SIZE = 48, /* the skippable frame at the end */
	PACK_WINDOW_LOG = 27, /* the window that `zstd -d` and `tar --zstd` accept without an option */
	PACK_MAX_MANIFEST = 16 << 20, /* json_parse bounds the number of values in it */
	PACK_MAX_MEMBERS = 1 << 18,
	PACK_MAX_ENTRIES = 1 << 18,
	PACK_MAX_DRIVERS = 256,
	PACK_MAX_OPTIONS = 4000, /* bytes of an option string; the longest seen has 71 */
	PACK_MAX_RATIO = 1000,   /* the most content, beyond the free bytes, for each compressed byte */
};

/* The most bytes of all members together. A driver keeps 4 GiB at most. */
#define PACK_MAX_TOTAL (UINT64_C(16) << 30)
/* The most bytes of members that are kept until the last entry that needs them is complete. */
#define PACK_MAX_RETAINED (UINT64_C(1) << 30)
/* The content up to this size may be compressed at will: a module's table of zeros takes almost
 * nothing. */
#define PACK_FREE_BYTES (UINT64_C(4) << 30)

#define PACK_FORMAT   "jitwarm.pack/1"
#define PACK_MANIFEST "manifest.json"
