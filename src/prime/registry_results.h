/* A registry's packs of the same plan: taken before anything is compiled, and put there afterwards.
 * A registry that fails costs a bounded time and a line; the work goes on. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

/* Where modules are cold: imports the packs of the plans of `found`. JW_ERR_INTERRUPTED, or
 * JW_ERR_USAGE: not such a name. */
int registry_results_pull(struct jw_error *err, const struct jw_system *system,
						  const struct jw_prime_options *options, const struct jw_found *found,
						  struct plan *plan, struct jw_prime_result *result);
void registry_results_push(const struct jw_system *system, const struct jw_prime_options *options,
						   const struct jw_found *found, struct jw_prime_result *result);
