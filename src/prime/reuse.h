/* What was compiled before and is not compiled again: packs of the store, and results of other
 * drivers that go over to this one. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

/* Adds to the cache what it lacks for the plan, first from the store, then from other drivers; the
 * plan's modules are warm then. With dry_run it only says what would be added. A failure is in
 * *reuse, and none of the run's; -1: out of memory. */
int reuse_former_results(struct jw_error *err, const struct jw_system *system,
						 const struct jw_prime_options *options, struct plan *plan,
						 struct jw_prime_reuse *reuse);
/* Keeps in the store what the run has compiled. */
void reuse_keep(const struct jw_system *system, const struct jw_prime_options *options,
				struct jw_prime_reuse *reuse);
