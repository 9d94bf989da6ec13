/* What stands to be done: the plan of a run, its sum, and what of it limits and budgets allow. */
#pragma once

#include <jitwarm/prime.h>

#include "cache/profile.h"
#include "history/ledger.h"
#include "plan/plan.h"

/* The plan and what it was asked for, which may be asked again: not to be copied. */
struct planning {
	struct plan *plan;
	struct plan_request request;
	struct cache_profile profile;
	struct jw_target *targets;
	struct jw_found *found;
};

/* What is found out about the files is in the result's notes. `planning` is empty before; the
 * caller frees it with planning_free in any case. */
int planning_make(struct jw_error *err, const struct jw_system *system,
				  const struct jw_prime_options *options, struct jw_prime_result *result,
				  struct planning *planning);
void planning_free(struct planning *planning);
/* Notes which of the warm ones were carried over; with recompile_carried they are cold then. */
void planning_note_carried(struct plan *plan, const struct ledger *ledger, bool recompile);
/* Counts what the modules are now; what else the sum says stays. */
void planning_sum_up(const struct plan *plan, const struct jw_prime_options *options,
					 struct jw_prime_plan *ret_sum);
/* Why it is needed at all: sum->why. */
int planning_explain(struct jw_error *err, const struct jw_system *system,
					 const struct planning *planning, const struct ledger *ledger,
					 struct jw_prime_plan *sum);
/* What of it is to be done now, by limit and budgets. */
int planning_choose(struct jw_error *err, struct plan *plan, const struct jw_system *system,
					const struct jw_prime_options *options, struct jw_prime_result *result);
/* How many cores a run may use. */
unsigned planning_cores(const struct jw_prime_options *options);
