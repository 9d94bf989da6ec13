/* The limits of a run: the cache's limit, and budgets of size and time. If not all cold modules
 * fit, the most valuable are taken, and the others are left (PLAN_OVER_BUDGET).
 *
 * A program that starts with a cold module waits for its compile, one module after the other, so a
 * module is worth its cost. Modules that every start needs come first: registered sections and
 * inputs of a link before modules that a library loads later itself. Within each group, with a
 * budget of size (the cache is short) the modules come first that save the most time per byte. With
 * only a budget of time the most expensive come first, since time saved equals time spent. A module
 * that does not fit is skipped, and smaller ones may still fit. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

struct budget_request {
	uint64_t limit_bytes;  /* the limit of the cache */
	uint64_t budget_bytes; /* bytes of the cache for all modules of the plan; 0 for no budget */
	uint64_t budget_ms;    /* wall time; 0 for no budget */
	double capacity;       /* the workers' throughput (jitwarm/estimate.h) */
};

/* Sets the state of cold modules that do not fit to PLAN_OVER_BUDGET, and fills in the limit and
 * budgets in *ret_sum. The caller computes the sums of the remaining cold modules. */
void budget_choose(struct plan *plan, const struct budget_request *request,
				   struct jw_prime_plan *ret_sum);

/* Returns whether the file system or the cache cannot hold the cold modules beside the warm ones,
 * so that the driver would evict some again: *ret_why is then JW_ERR_LIMIT with a line that says
 * what to do; `elsewhere`: for another machine. */
bool budget_is_too_much(const struct jw_prime_plan *sum, const struct jw_cache_info *cache,
						bool elsewhere, struct jw_error *ret_why);
