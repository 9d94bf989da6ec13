/* Caches of other compilers than the driver's: where they are. jitwarm computes no keys for them,
 * and removes nothing there.
 *
 * Threads: as jw_check. */
#ifndef JITWARM_CACHES_H
#define JITWARM_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/error.h>

JW_BEGIN_DECLS

struct jw_compiler_cache {
	const char *name, *belongs_to;
	const char *variable; /* that moves it; "" if none does */
	char *path;           /* absolute, without links */
	bool moved;           /* by its variable */
};

struct jw_compiler_caches {
	struct jw_compiler_cache *items; /* those that exist, in the order of the table */
	size_t count;
};

/* -1: out of memory. The caller frees with jw_compiler_caches_free. */
int jw_compiler_caches_find(struct jw_error *err, struct jw_compiler_caches **ret_caches);
void jw_compiler_caches_free(struct jw_compiler_caches *caches);

JW_END_DECLS

#endif
