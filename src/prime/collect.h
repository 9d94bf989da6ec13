/* What a worker made goes into the live cache: only here, only after it was checked. */
#ifndef JW_PRIME_COLLECT_H
#define JW_PRIME_COLLECT_H

#include "plan/plan.h"

enum collected {
	COLLECTED,         /* checked, and in the live cache */
	COLLECTED_NOTHING, /* the driver made no entry: there was nothing to compile */
	COLLECTED_FOREIGN, /* it made one under another name than predicted: this driver's form is not
						  the one we know */
};

/* Takes the entry of `module` out of a worker's private cache directory, checks it (name as
 * predicted, key, checksum, a cubin for this architecture) and inserts it into the live cache. -1:
 * the entry is unsound, or the live cache cannot be written; the private entry is gone then too. */
struct cache_live;
int collect_module(struct jw_error *err, struct cache_live *live, const char *private_dir,
				   const struct plan *plan, const struct plan_module *module,
				   enum collected *ret_what, uint64_t *ret_bytes);

#endif
