/* A driver profile: what has to be known of one driver to compute the name of every entry that it
 * will look for.
 *
 * Source: docs/driver-cache.md (measured on drivers 535, 550, 555). A profile belongs to one
 * library file and is kept in the state directory under that file's identity.
 */
#ifndef JW_CACHE_PROFILE_H
#define JW_CACHE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/target.h>

#include "base/error.h"

enum { CACHE_STAMP_SIZE = 19 }; /* "Jun 25 2024" "01:14:48" */

/* How far the stamp can be trusted. */
enum cache_trust {
	CACHE_STAMP_UNKNOWN,   /* no stamp */
	CACHE_STAMP_READ,      /* read off the library file, unconfirmed */
	CACHE_STAMP_TABLE,     /* from the table of known drivers */
	CACHE_STAMP_CONFIRMED, /* seen in an entry of the live cache, or made by a probe */
	CACHE_STAMP_OPAQUE, /* an entry that the driver made was not as predicted: its format is not the
						   one we know */
};

struct cache_profile {
	char stamp[CACHE_STAMP_SIZE + 1]; /* "" where unknown */
	enum cache_trust trust;
	struct jw_driver driver;
	char library[1024]; /* the file that a worker really loaded, or that would be; "" for --driver
						   VERSION */
	uint64_t library_size;
	int64_t library_mtime_ns;
	char build_id[65]; /* hex, "" where there is none */
};

#endif
