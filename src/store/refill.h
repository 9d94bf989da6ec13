/* Refills the system's cache from packs of the store. */
#pragma once

#include <jitwarm/pack.h>
#include <jitwarm/store.h>

#include "base/set.h"

enum refill_mode {
	REFILL_OWN,   /* entries that this driver has compiled */
	REFILL_EXACT, /* and those of other builds of its CUDA minor version */
	REFILL_OLDER, /* and those of older drivers, which are marked */
};

struct refill_request {
	const struct jw_system *system;
	enum refill_mode mode;
	const uint64_t *keys,
		*key_bytes; /* entries missing from the cache; key_bytes may be NULL for REFILL_OWN */
	size_t count;
	bool dry_run; /* for REFILL_OWN: reads the manifests only */
	void *context;
	/* Called with the groups of each pack's import; may be NULL. */
	void (*took)(void *context, const struct jw_import_result *result);
	struct jw_cancel cancel; /* as in jw_import_options */
};

/* Inserts from the newest packs first while there is room; nothing is evicted. Damaged packs are
 * skipped and reported. */
int refill_from_store(struct jw_error *err, const struct refill_request *request,
					  struct jw_store_refilled *ret_refilled);
