/* Makes cold modules warm with entries that exist elsewhere: in the store, in the packs of a folder
 * that machines share, and in this cache under the names of other drivers. A failure does not stop
 * the run: the modules are compiled. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

/* Returns whether the store is this account's, and the cache is the one that programs use. */
bool reuse_may_use_store(const struct jw_system *system);

/* Takes missing entries from the store, after removing damaged ones, and marks their modules warm.
 * With dry_run writes nothing, and marks them PLAN_RESTORED. */
void reuse_store(const struct jw_system *system, const struct jw_prime_options *options,
				 struct plan *plan, struct jw_prime_result *outcome);

/* Copies the packs that fit from the folder of the options into this run's own folder `staged`, and
 * takes missing entries from them as reuse_store does. -1 only if the folder is required and
 * missing, or the run is interrupted. */
int reuse_folder(struct jw_error *err, const struct jw_system *system,
				 const struct jw_prime_options *options, const char *staged, struct plan *plan,
				 struct jw_prime_result *outcome);

/* Copies the entries of other drivers of the CUDA minor version under this driver's names, and
 * marks their modules like reuse_store, which is called first. `staged` is that of reuse_folder;
 * NULL without one. */
void reuse_other_drivers(const struct jw_system *system, const struct jw_prime_options *options,
						 const char *staged, struct plan *plan, struct jw_prime_result *outcome);

/* Marks the modules PLAN_RESTORED that reuse_store would take from the store. Writes nothing. */
void reuse_would_restore(const struct jw_system *system, struct plan *plan,
						 const struct jw_cancel *cancel);
