/* What a worker made goes into the live cache: only here, only after it was checked. */
#ifndef JW_PRIME_COLLECT_H
#define JW_PRIME_COLLECT_H

#include <stdbool.h>

#include "plan/plan.h"

enum collected {
	COLLECTED,         /* there it is */
	COLLECTED_NOTHING, /* the driver made no entry: there was nothing to compile */
	COLLECTED_FOREIGN, /* it made one under another name than predicted: this driver's form is not
						  the one we know, or it chose otherwise than we thought */
};

struct cache_live;

/* Looks for the entry that a worker has made of `module` in its private cache directory.
 * *ret_path: of its file, NULL where it made none. The caller frees it. -1: the
 * disk on which workers write is full, or out of memory. */
int collect_find(struct jw_error *err, const char *private_dir, const struct plan *plan,
				 const struct plan_module *module, enum collected *ret_what, char **ret_path);
/* Checks that entry (key, checksum, a cubin for this architecture) and inserts it into the live
 * cache. -1: JW_ERR_FORMAT where it is unsound, JW_ERR_BUSY where the cache's lock is not to be
 * had, others where the cache cannot be written; then the file stays where it is, else it is gone.
 */
int collect_insert(struct jw_error *err, struct cache_live *live, const char *path,
				   const struct plan *plan, const struct plan_module *module, uint64_t *ret_bytes);
/* The same for a foreign one, under the name that it has. */
int collect_insert_foreign(struct jw_error *err, struct cache_live *live, const char *path,
						   const struct plan *plan, const struct plan_module *module,
						   uint64_t *ret_bytes);
/* Whether that failure is the disk's on which workers write: then err says so. */
bool collect_disk_is_full(struct jw_error *err, const char *private_dir);

#endif
