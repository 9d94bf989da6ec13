/* What a run may take: the cache's limit, and budgets of size and time. Where not all that is cold
 * fits, the most valuable modules are taken, and the others are left (PLAN_OVER_BUDGET).
 *
 * A start that finds a module cold waits for its compile, one module after the other: a module is
 * worth its cost. Those that a start is sure to need come first: registered sections and inputs of
 * a link before what a library loads by itself when it wants it. Among them, with a budget of size
 * (the cache is what is short) most time saved for a byte first; with a budget of time alone the
 * dearest first, since time saved and time spent are the same. What does not fit any more is passed
 * over, and smaller ones may.
 */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

struct budget_request {
	uint64_t limit_bytes;  /* of the cache */
	uint64_t budget_bytes; /* what all modules of the plan may take in it; 0: no budget */
	uint64_t budget_ms;    /* wall time; 0: no budget */
	double capacity;       /* of the workers (jitwarm/estimate.h) */
};

/* Sets the state of cold modules that are left to PLAN_OVER_BUDGET, and fills in what *ret_sum says
 * about limit and budgets. The sums over what stays cold are the caller's. */
int budget_choose(struct jw_error *err, struct plan *plan, const struct budget_request *request,
				  struct jw_prime_plan *ret_sum);

/* Whether what stays cold would be evicted again, since the cache does not hold it beside what is
 * warm: then *ret_why is JW_ERR_UNSUPPORTED with a line on what to set. */
bool budget_is_too_much(const struct jw_prime_plan *sum, struct jw_error *ret_why);
