/* Reuses earlier results: packs of the store, and entries of other drivers that are carried over.
 */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

/* Inserts missing entries of the plan from the store, and sets those modules warm. With dry_run it
 * only counts them. A failure is noted in *reuse and does not stop the run; -1: out of memory. */
int reuse_store_results(struct jw_error *err, const struct jw_system *system,
						const struct jw_prime_options *options, struct plan *plan,
						struct jw_prime_reuse *reuse);
/* The same from other drivers. */
int reuse_carry_over(struct jw_error *err, const struct jw_system *system,
					 const struct jw_prime_options *options, struct plan *plan,
					 struct jw_prime_reuse *reuse);
/* Keeps the run's results in the store. */
void reuse_keep(const struct jw_system *system, const struct jw_prime_options *options,
				struct jw_prime_reuse *reuse);
