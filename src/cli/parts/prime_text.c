#include "cli/parts/prime_text.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/parts/forecast_text.h"
#include "cli/parts/module_text.h"

/* ---- the store, former drivers */

static void print_refilled(const struct output *out, const struct jw_store_refilled *refilled,
						   bool dry_run)
{
	char size[TEXT_SHORT];

	for (size_t i = 0; i < refilled->note_count; i++)
		output_warning(out, "from the store: %s", refilled->notes[i]);
	if (refilled->more_notes)
		output_warning(out, "from the store: %zu more (“jitwarm store verify” checks all of it)",
					   refilled->more_notes);
	if (refilled->entries)
		output_line(out, STYLE_GOOD,
					dry_run ? "%s (%s) that %s compiled before would come back from the store; the "
							  "following counts include them."
							: "%s (%s) that %s compiled before came back from the store.",
					TEXT_COUNT(refilled->entries, "entry", "entries"),
					text_bytes(size, refilled->bytes), refilled->entries == 1 ? "was" : "were");
}

static void print_carry_groups(const struct output *out, const struct jw_carry_result *result,
							   bool dry_run)
{
	for (size_t i = 0; i < result->group_count; i++) {
		const struct jw_carry_group *group = &result->groups[i];
		const char *modules = TEXT_COUNT(group->modules, "module", "modules");

		if (group->refused)
			output_line(out, STYLE_PLAIN,
						"%s for %s that driver %s has compiled cannot be carried over: "
						"%s.",
						modules, group->target, group->driver, group->why);
		else
			output_line(out, STYLE_GOOD, "%s for %s %s carried over from driver %s%s%s.", modules,
						group->target,
						dry_run               ? "would be"
						: group->modules == 1 ? "was"
											  : "were",
						group->driver, group->in_store ? ", out of the store" : "",
						group->older ? "" : ", whose compiler is this driver's");
	}
}

static void print_carried(const struct output *out, const struct jw_carry_result *result,
						  bool dry_run)
{
	char bytes[TEXT_SHORT], time[TEXT_SHORT];

	print_carry_groups(out, result, dry_run);
	if (result->carried && dry_run)
		output_line(out, STYLE_PLAIN, "The following counts include %s.",
					result->carried == 1 ? "it" : "them");
	if (result->carried && !dry_run)
		output_line(out, STYLE_PLAIN, "That took %s; the cache grew by %s.",
					text_duration(time, result->seconds), text_bytes(bytes, result->bytes));
	if (result->evicted)
		output_warning(out, "%s evicted for them: the cache is at its limit (CUDA_CACHE_MAXSIZE)",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"));
	if (*result->note)
		output_warning(out, "%s", result->note);
}

void prime_print_reuse(const struct output *out, const struct jw_prime_reuse *reuse, bool dry_run)
{
	if (reuse->not_refilled.code)
		output_warning(out, "the store is not used: %s", reuse->not_refilled.message);
	print_refilled(out, &reuse->refilled, dry_run);
	if (reuse->not_carried.code)
		output_warning(out, "nothing is carried over: %s", reuse->not_carried.message);
	if (reuse->carried)
		print_carried(out, reuse->carried, dry_run);
}

/* ---- the plan and the results */

/* The limit of the cache and its use. */
static void print_limit(const struct output *out, const struct jw_prime_plan *plan)
{
	char used[TEXT_SHORT], limit[TEXT_SHORT];
	bool evicts =
		!plan->too_much && plan->used_bytes + plan->forecast.cache_bytes > plan->limit_bytes;

	output_line(out, STYLE_PLAIN, "The driver keeps at most %s of cache, of which %s are used%s.",
				text_bytes(limit, plan->limit_bytes), text_bytes(used, plan->used_bytes),
				evicts ? ": the driver will evict the oldest entries" : "");
}

static void print_over_budget(const struct output *out, const struct jw_prime_plan *plan)
{
	char time[TEXT_SHORT], bytes[TEXT_SHORT];

	if (plan->over_budget)
		output_line(out, STYLE_WARN,
					"The budget leaves %s for a later run (%s on one core, %s of cache): the least "
					"valuable.",
					TEXT_COUNT(plan->over_budget, "module", "modules"),
					text_duration(time, plan->over_budget_seconds),
					text_bytes(bytes, plan->over_budget_bytes));
}

/* With several GPUs, prints a line for each, then their total. */
static void print_forecast(const struct output *out, const struct jw_prime_result *result)
{
	size_t busy = 0;

	for (size_t i = 0; i < result->gpu_count; i++)
		busy += result->gpus[i].cold > 0;
	for (size_t i = 0; busy > 1 && i < result->gpu_count; i++) {
		const struct jw_prime_gpu *gpu = &result->gpus[i];
		char target[JW_TARGET_TEXT], head[JW_TARGET_TEXT + 4];

		(void)snprintf(head, sizeof head, "%s: ", jw_target_sm(target, gpu->target));
		if (gpu->cold)
			forecast_text_line(out, head, &gpu->forecast, ".");
	}
	forecast_text_line(out, busy > 1 ? "All together: " : "Predicted: ", &result->plan.forecast,
					   ".");
	forecast_text_doubt(out, &result->plan.forecast);
}

void prime_print_plan(const struct output *out, const struct jw_prime_result *result, bool only)
{
	const struct jw_prime_plan *plan = &result->plan;
	char bytes[TEXT_SHORT];

	if (plan->cache.text[0])
		output_warning(out, "%s%s%s", plan->cache.text, plan->cache.evicted ? "; " : "",
					   plan->cache.evicted ? plan->cache.next_step : "");
	/* Of files that run, the notes say what is not used. */
	if (plan->cannot && plan->hopeless)
		output_line(out, STYLE_WARN,
					"%s with code that this driver cannot use for these GPUs; “jitwarm "
					"scan” says why.",
					TEXT_COUNT(plan->cannot, "container", "containers"));
	if (!plan->modules) {
		output_line(out, STYLE_PLAIN,
					"There is nothing here that the driver would compile for these GPUs.");
		return;
	}
	if (!plan->cold && plan->over_budget) {
		print_limit(out, plan);
		print_over_budget(out, plan);
		return;
	}
	if (!plan->cold) {
		output_line(out, STYLE_GOOD, "Warm: %s that %s %s in %s cache.",
					module_text_all(bytes, plan->modules),
					only ? "--only names" : "the driver would compile",
					plan->modules == 1 ? "is" : "are", only ? "the" : "its");
		module_text_marks(out, "", "the warm modules", plan->carried, ".");
		module_text_link(out, "", 0, &plan->forecast, ".");
		return;
	}
	output_line(out, STYLE_PLAIN, "%zu of %s to compile (%s of PTX).", plan->cold,
				TEXT_COUNT(plan->modules, "module", "modules"),
				text_bytes(bytes, plan->cold_bytes));
	print_forecast(out, result);
	if (plan->why[0])
		output_line(out, STYLE_PLAIN, "Why: %s.", plan->why);
	module_text_marks(out, "", "the warm modules", plan->carried, ".");
	module_text_link(out, "", plan->link, &plan->forecast, ".");
	print_limit(out, plan);
	print_over_budget(out, plan);
}

void prime_print_compiled(const struct output *out, const struct jw_prime_result *result)
{
	const struct jw_prime_plan *plan = &result->plan;
	char time[TEXT_SHORT], bytes[TEXT_SHORT], more_time[TEXT_SHORT], more_bytes[TEXT_SHORT];
	bool whole = result->compiled == plan->cold && !result->stopped.code;

	if (whole)
		output_line(out, STYLE_GOOD,
					"Compiled %s: predicted %s, took %s; the cache grew by %s (predicted "
					"%s).",
					TEXT_COUNT(result->compiled, "module", "modules"),
					text_duration(more_time, plan->forecast.prime.likely),
					text_duration(time, result->seconds), text_bytes(bytes, result->added_bytes),
					text_bytes(more_bytes, plan->forecast.cache_bytes));
	else
		output_line(out, STYLE_GOOD, "Compiled %s in %s; the cache grew by %s.",
					TEXT_COUNT(result->compiled, "module", "modules"),
					text_duration(time, result->seconds), text_bytes(bytes, result->added_bytes));
	if (result->compile_seconds > 60 && result->compile_cpu_seconds > 0 &&
		result->compile_seconds > 1.5 * result->compile_cpu_seconds)
		output_note(out,
					"other programs kept the processor busy: %s of compiling had %s of its time",
					text_duration(more_time, result->compile_seconds),
					text_duration(time, result->compile_cpu_seconds));
}

void prime_print_left(const struct output *out, const struct jw_prime_result *result, bool by_size)
{
	const char *how = by_size ? "the same command with a larger --budget-size compiles them"
							  : "the same command compiles them";
	size_t left = result->undone + result->plan.over_budget;

	if (result->out_of_time)
		output_line(out, STYLE_WARN, "The time is up with %s left: %s.",
					TEXT_COUNT(left, "module", "modules"), how);
	else
		output_line(out, STYLE_WARN, "%s left: %s.", TEXT_COUNT(left, "module", "modules"), how);
}
