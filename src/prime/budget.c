#include "prime/budget.h"

#include <stdio.h>
#include <stdlib.h>

#include <jitwarm/estimate.h>

#include "base/mem.h"
#include "base/text.h"

/* A cold module and the keys that order it. */
struct candidate {
	struct plan_module *module;
	double worth; /* milliseconds, or milliseconds per byte if the cache is short */
};

/* Orders by worth; equal ones keep the plan's order (most expensive first), so that two runs choose
 * alike. */
static int by_worth(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->module->used != right->module->used)
		return left->module->used ? -1 : 1;
	if (left->module->on_demand != right->module->on_demand)
		return left->module->on_demand ? 1 : -1;
	if (left->worth < right->worth || left->worth > right->worth)
		return left->worth < right->worth ? 1 : -1;
	return (left->module > right->module) - (left->module < right->module);
}

/* The amounts taken so far, and their limits. */
struct purse {
	uint64_t left_bytes; /* UINT64_MAX for no budget */
	double total_ms, longest_ms;
	double budget_ms; /* 0 for no budget */
	double capacity;  /* the workers' throughput */
};

static bool spend_on(struct purse *purse, const struct plan_module *module)
{
	double total = purse->total_ms + module->cost_ms;
	double longest = module->cost_ms > purse->longest_ms ? module->cost_ms : purse->longest_ms;

	if (module->entry_bytes > purse->left_bytes)
		return false;
	if (purse->budget_ms > 0 && jw_makespan(total, longest, purse->capacity) > purse->budget_ms)
		return false;
	if (purse->left_bytes != UINT64_MAX)
		purse->left_bytes -= module->entry_bytes;
	purse->total_ms = total;
	purse->longest_ms = longest;
	return true;
}

void budget_choose(struct plan *plan, const struct budget_request *request,
				   struct jw_prime_plan *ret_sum)
{
	struct purse purse = {.left_bytes = UINT64_MAX,
						  .budget_ms = (double)request->budget_ms,
						  .capacity = request->capacity};
	struct candidate *candidates;
	uint64_t restored_bytes = 0;
	size_t count = 0;

	ret_sum->limit_bytes = request->limit_bytes;
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_WARM)
			ret_sum->warm_bytes += plan->modules[i].entry_bytes;
		else if (plan->modules[i].state == PLAN_RESTORED)
			restored_bytes += plan->modules[i].entry_bytes;
	if (!request->budget_bytes && !request->budget_ms)
		return;
	candidates = mem_array(plan->module_count, sizeof *candidates);
	/* The driver's limit caps the budget. */
	if (request->budget_bytes) {
		const uint64_t most = request->budget_bytes < request->limit_bytes ? request->budget_bytes
																		   : request->limit_bytes,
					   there = ret_sum->warm_bytes + restored_bytes;

		purse.left_bytes = most > there ? most - there : 0;
	}
	for (size_t i = 0; i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];
		double bytes =
			request->budget_bytes && module->entry_bytes ? (double)module->entry_bytes : 1;

		if (module->state == PLAN_COLD)
			candidates[count++] = (struct candidate){module, module->cost_ms / bytes};
	}
	if (count)
		qsort(candidates, count, sizeof *candidates, by_worth);
	for (size_t i = 0; i < count; i++)
		if (!spend_on(&purse, candidates[i].module)) {
			struct plan_module *module = candidates[i].module;

			module->state = PLAN_OVER_BUDGET;
			ret_sum->over_budget++;
			ret_sum->over_budget_bytes += module->entry_bytes;
			ret_sum->over_budget_seconds += module->cost_ms / 1000;
		}
	mem_free(candidates);
}

/* Writes a value for --budget-size: a little below the limit. */
static const char *share_text(char text[TEXT_SHORT], uint64_t limit_bytes)
{
	const uint64_t mib = limit_bytes >> 20;

	(void)snprintf(text, TEXT_SHORT, mib ? "%lluM" : "%llu",
				   (unsigned long long)(mib ? mib : limit_bytes));
	return text;
}

bool budget_is_too_much(const struct jw_prime_plan *sum, const struct jw_cache_info *cache,
						bool elsewhere, struct jw_error *ret_why)
{
	const uint64_t most = UINT64_C(4)
						  << 30; /* see docs/internals/driver-cache.md, "Limits and variables" */
	const uint64_t wanted = sum->warm_bytes + sum->forecast.cache_bytes;
	char size[TEXT_SHORT], limit[TEXT_SHORT], part[TEXT_SHORT];

	if (sum->cold && sum->forecast.cache_bytes > cache->free_bytes) {
		error_set(ret_why, JW_ERR_LIMIT,
				  "only %s are free at %s, and %s are needed: free some space, name another "
				  "directory (CUDA_CACHE_PATH), or compile only what fits: --budget-size %s",
				  text_bytes(limit, cache->free_bytes), cache->path,
				  text_bytes(size, sum->forecast.cache_bytes),
				  share_text(part, cache->free_bytes / 2));
		return true;
	}
	if (!sum->cold || wanted <= sum->limit_bytes)
		return false;
	(void)text_bytes(size, wanted);
	(void)text_bytes(limit, sum->limit_bytes);
	(void)share_text(part, sum->limit_bytes);
	if (wanted > most && sum->limit_bytes >= most)
		error_set(ret_why, JW_ERR_LIMIT,
				  "the limit of %s is too small, %s are needed, and no limit is larger: name fewer "
				  "packages, or compile only what fits: --budget-size %s",
				  limit, size, part);
	else if (elsewhere)
		error_set(
			ret_why, JW_ERR_LIMIT,
			"the limit of %s is too small, %s are needed: set CUDA_CACHE_MAXSIZE=%llu on both "
			"machines, or compile only what fits: --budget-size %s",
			limit, size, (unsigned long long)jw_cache_limit(cache, sum->forecast.cache_bytes),
			part);
	else
		error_set(ret_why, JW_ERR_LIMIT,
				  "the limit of %s is too small, %s are needed: to raise it and compile, run "
				  "“jitwarm prime --tune”; or compile only what fits: --budget-size %s",
				  limit, size, part);
	return true;
}
