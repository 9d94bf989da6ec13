/* Packs of the store into the system's cache. */
#pragma once

#include <jitwarm/pack.h>
#include <jitwarm/store.h>

#include "base/set.h"

enum refill_mode {
	REFILL_OWN,   /* what this driver has compiled itself */
	REFILL_EXACT, /* and other builds of its CUDA minor version */
	REFILL_OLDER, /* and older ones; what they made is marked */
};

struct refill_request {
	const struct jw_system *system;
	enum refill_mode mode;
	const uint64_t *keys, *key_bytes; /* entries that the cache lacks; key_bytes may be NULL for
										 REFILL_OWN */
	size_t count;
	bool dry_run; /* for REFILL_OWN: by the manifests alone */
	void *context;
	/* Told of the groups of each pack's import; may be NULL. */
	void (*took)(void *context, const struct jw_import_result *result);
	struct jw_cancel cancel; /* as in jw_import_options */
};

/* The newest packs first, as far as there is room: nothing is evicted. Packs that are damaged are
 * passed over, and told. */
int refill_from_store(struct jw_error *err, const struct refill_request *request,
					  struct jw_store_refilled *ret_refilled);
