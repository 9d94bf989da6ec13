/* Chooses the entries of a cache directory that jw_prune removes, and why. Nothing is written. */
#pragma once

#include <jitwarm/prune.h>

#include "cache/remove.h"

struct chosen_one {
	struct cache_removal removal; /* the file as it was when it was chosen */
	bool damaged;
};

struct chosen {
	struct chosen_one *items; /* in the driver's order of eviction */
	size_t count;
};

/* Fills in path, entries, bytes, chosen…, groups and unknown of the result, which the caller owns
 * on failure too. */
int choose_entries(struct jw_error *err, const struct jw_prune_options *options,
				   struct jw_prune_result *result, struct chosen *ret_chosen);
void chosen_free(struct chosen *chosen);
