/* Every driver's cache that jitwarm may have written to without being told where. */
#pragma once

#include <jitwarm/accounts.h>

struct driver_cache {
	char *path;
	const struct jw_account *account; /* whose rights to go there with; NULL: ours */
};

struct driver_caches {
	struct driver_cache *items;
	size_t count, capacity;
	struct jw_accounts accounts;
};

/* Ours, those named by settings, and for an administrator those of every person. Each once. The
 * caller frees them. */
int driver_caches_all(struct jw_error *err, struct driver_caches *ret_caches);
void driver_caches_free(struct driver_caches *caches);
