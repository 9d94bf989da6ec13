/* Caches of other compilers than the driver's: where they are, how large, how old. jitwarm computes
 * no keys for them, and removes nothing there.
 *
 * Threads: as jw_check. */
#ifndef JITWARM_CACHES_H
#define JITWARM_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>

JW_BEGIN_DECLS

/* Of each, no more names are looked at. */
enum { JW_COMPILER_CACHE_MOST_NAMES = 500000 };

struct jw_compiler_cache {
	const char *name, *belongs_to;
	const char *variable; /* that moves it; "" where none does */
	char *path;           /* absolute, without links */
	bool moved;           /* by its variable */
	/* Of the files below, by their lengths; links and other file systems are not entered. */
	size_t files;
	uint64_t bytes;
	int64_t newest_ns; /* of the newest file, since 1970; 0: there is no file */
	size_t unread;     /* folders that could not be read */
	bool cut;          /* it holds more than was looked at */
	/* Folders named after a version that is not the newest here: no newer one reads them. Empty
	 * also where a cache does not name versions. */
	char **superseded;
	size_t superseded_count;
	uint64_t superseded_bytes;
};

struct jw_compiler_caches {
	struct jw_compiler_cache *items; /* those that exist, in the order of the table */
	size_t count;
};

/* Without `measured` only names and paths are there. -1: out of memory. The caller frees with
 * jw_compiler_caches_free. */
int jw_compiler_caches_find(struct jw_error *err, bool measured,
							struct jw_compiler_caches **ret_caches);
void jw_compiler_caches_free(struct jw_compiler_caches *caches);

JW_END_DECLS

#endif
