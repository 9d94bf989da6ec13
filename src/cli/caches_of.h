/* Every driver's cache that jitwarm may have written to without being told where. */
#ifndef JW_CLI_CACHES_OF_H
#define JW_CLI_CACHES_OF_H

#include <jitwarm/accounts.h>

struct cache_of {
	char *path;
	const struct jw_account *account; /* whose rights to go there with; NULL: ours */
};

struct caches_of {
	struct cache_of *items;
	size_t count, capacity;
	struct jw_accounts accounts;
};

/* Ours, those that settings name, and for an administrator those of every person here. Each once.
 * The caller frees them. */
int caches_of_all(struct jw_error *err, struct caches_of *ret_caches);
void caches_of_free(struct caches_of *caches);

#endif
