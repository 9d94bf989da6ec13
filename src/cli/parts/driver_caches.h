/* Every driver's cache that jitwarm may have written to by default. */
#pragma once

#include <jitwarm/accounts.h>

struct driver_cache {
	char *path;
	const struct jw_account *account; /* the account whose rights reach it; NULL: ours */
};

struct driver_caches {
	struct driver_cache *items;
	size_t count, capacity;
	struct jw_accounts accounts;
};

/* Our own, those named by settings, and for an administrator those of every user; each once. The
 * caller frees them. */
int driver_caches_all(struct jw_error *err, struct driver_caches *ret_caches);
void driver_caches_free(struct driver_caches *caches);
