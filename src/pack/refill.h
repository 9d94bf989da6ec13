/* Refills the system's cache from packs of the store. */
#pragma once

#include <jitwarm/pack.h>
#include <jitwarm/store.h>

struct refill_request {
	const struct jw_system *system;
	/* The folder with the packs, all of which are trusted, and its name in messages; NULL for the
	 * store of the state directory. */
	const char *folder, *shown;
	/* Entries missing from the cache. With the lengths of their keys (or NULL), also entries of
	 * other builds of the driver's CUDA minor version are found. */
	const uint64_t *keys, *key_bytes;
	const struct jw_identity *identities; /* of the modules of `keys`; NULL: any entry will do */
	size_t count;
	bool dry_run; /* read only the manifests (without key_bytes) */
	bool *found;  /* as in jw_store_refill_options */
	void *context;
	/* Called with the groups of each pack's import; may be NULL. */
	void (*took)(void *context, const struct jw_import_result *result);
	struct jw_cancel cancel; /* as in jw_import_options */
};

/* Inserts from the newest packs first while there is room; nothing is evicted.
 * Damaged packs are skipped and reported. */
int refill_from_packs(struct jw_error *err, const struct refill_request *request,
					  struct jw_store_refilled *ret_refilled);
