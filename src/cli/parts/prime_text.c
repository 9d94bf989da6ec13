#include "cli/parts/prime_text.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/startup.h>

#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/parts/module_text.h"
#include "os/clock.h"

/* ---- the store, former drivers */

static void print_refilled(const struct output *out, const struct jw_store_refilled *refilled,
						   bool dry_run)
{
	char size[TEXT_SHORT];

	for (size_t i = 0; i < refilled->note_count; i++)
		output_warning(out, "from the store: %s", refilled->notes[i]);
	if (refilled->more_notes)
		output_warning(out, "from the store: %zu more (“jitwarm store list” shows all of it)",
					   refilled->more_notes);
	if (refilled->entries)
		output_line(out, STYLE_GOOD,
					dry_run ? "%s (%s) that %s compiled before would come back from the store."
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
	if (result->carried && !dry_run)
		output_line(out, STYLE_PLAIN, "That took %s; the cache grew by %s.",
					text_duration(time, result->seconds), text_bytes(bytes, result->bytes));
	if (result->evicted)
		output_warning(out, "%s evicted for them: the cache is at its limit (CUDA_CACHE_MAXSIZE)",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"));
	if (*result->note)
		output_warning(out, "%s", result->note);
}

void prime_print_reuse(const struct output *out, const struct jw_prime_result *result, bool dry_run)
{
	const struct jw_prime_reuse *reuse = &result->reuse;
	const struct jw_prime_plan *plan = &result->plan;

	if (reuse->not_refilled.code)
		output_warning(out, "the store is not used: %s", reuse->not_refilled.message);
	print_refilled(out, &reuse->refilled, dry_run);
	if (reuse->not_carried.code)
		output_warning(out, "nothing is carried over: %s", reuse->not_carried.message);
	if (reuse->carried)
		print_carried(out, reuse->carried, dry_run);
	/* As “jitwarm check” counts. */
	if (plan->restored)
		output_line(out, STYLE_PLAIN, "Cold: %zu of %s; from earlier results at once: %zu.",
					plan->cold + plan->over_budget + plan->restored,
					TEXT_COUNT(plan->modules, "module", "modules"), plan->restored);
}

/* ---- the plan and the results */

/* The limit of the cache and its use, where that may matter. */
static void print_limit(const struct output *out, const struct jw_prime_plan *plan)
{
	char used[TEXT_SHORT], limit[TEXT_SHORT];
	const uint64_t all = plan->used_bytes + plan->forecast.cache_bytes;
	const bool evicts = !plan->too_much && all > plan->limit_bytes;

	if (all <= plan->limit_bytes / 2)
		return;
	output_line(out, STYLE_PLAIN, "The driver keeps at most %s of cache, of which %s are used%s.",
				text_bytes(limit, plan->limit_bytes), text_bytes(used, plan->used_bytes),
				evicts ? ": the driver will evict the oldest entries" : "");
}

static void print_over_budget(const struct output *out, const struct jw_prime_plan *plan)
{
	char time[TEXT_SHORT], bytes[TEXT_SHORT], all_time[TEXT_SHORT], all_bytes[TEXT_SHORT];

	if (plan->over_budget)
		output_line(out, STYLE_WARN,
					"The budget leaves %s of lower priority to the next run (%s on one core, %s of "
					"cache); without it: %s (%s, %s).",
					TEXT_COUNT(plan->over_budget, "module", "modules"),
					text_duration(time, plan->over_budget_seconds),
					text_bytes(bytes, plan->over_budget_bytes),
					TEXT_COUNT(plan->cold + plan->over_budget, "module", "modules"),
					text_duration(all_time, plan->over_budget_seconds +
												plan->forecast.start.likely -
												plan->forecast.restored_seconds),
					text_bytes(all_bytes, plan->over_budget_bytes + plan->forecast.cache_bytes));
}

/* With several GPUs, prints a line for each, then their total. Those of other machines share no
 * first start. */
static void print_forecast(const struct output *out, const struct jw_prime_result *result,
						   bool for_others)
{
	const struct jw_forecast *all = &result->plan.forecast;
	char prime[TEXT_SHORT], cache[TEXT_SHORT];
	size_t busy = 0;

	for (size_t i = 0; i < result->gpu_count; i++)
		busy += result->gpus[i].cold > result->gpus[i].restored;
	for (size_t i = 0; busy > 1 && i < result->gpu_count; i++) {
		const struct jw_prime_gpu *gpu = &result->gpus[i];
		char target[JW_TARGET_TEXT], head[JW_TARGET_TEXT + 4];

		(void)snprintf(head, sizeof head, "%s: ", jw_target_sm(target, gpu->target));
		if (gpu->cold > gpu->restored)
			forecast_text_line(out, head, &gpu->forecast, ".");
	}
	if (busy > 1 && for_others)
		output_line(out, STYLE_PLAIN,
					"All together: compiling takes %s with %s if nothing else runs, %s of cache.",
					text_span(prime, all->prime.low, all->prime.high),
					TEXT_COUNT(all->workers, "worker", "workers"),
					text_bytes(cache, all->cache_bytes));
	else
		forecast_text_line(out, busy > 1 ? "All together: " : "Predicted: ", all, ".");
	forecast_text_doubt(out, all);
}

void prime_print_plan(const struct output *out, const struct jw_prime_result *result,
					  bool for_others)
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
	if (!plan->modules && (plan->recorded_missing || plan->recorded_unfiled)) {
		if (!result->troubles)
			output_line(
				out, STYLE_GOOD, "Warm: %s in no file, and in the cache.",
				TEXT_COUNT(plan->recorded_unfiled, "recorded module is", "recorded modules are"));
		return;
	}
	if (!plan->modules && (plan->tile || plan->unknown)) {
		output_line(out, STYLE_WARN, "There is nothing here that jitwarm could compile.");
		return;
	}
	if (!plan->modules && plan->hopeless) {
		output_line(out, STYLE_BAD, "Nothing is compiled: what is here cannot run on these GPUs.");
		return;
	}
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
	if (!plan->cold && plan->warm < plan->modules) {
		output_line(out, STYLE_PLAIN, "Nothing is left to compile.");
		return;
	}
	if (!plan->cold) {
		output_line(out, STYLE_GOOD, "Warm: %s that the driver would compile %s in its cache.",
					module_text_all(bytes, plan->modules), plan->modules == 1 ? "is" : "are");
		module_text_marks(out, "", "the warm modules", plan->carried, ".");
		module_text_link(out, "", 0, &plan->forecast, ".");
		return;
	}
	output_line(out, STYLE_PLAIN, "%zu of %s to compile (%s of PTX).", plan->cold,
				TEXT_COUNT(plan->modules, "module", "modules"),
				text_bytes(bytes, plan->cold_bytes));
	print_forecast(out, result, for_others);
	if (plan->why[0])
		output_line(out, STYLE_PLAIN, "Why: %s.", plan->why);
	module_text_marks(out, "", "the warm modules", plan->carried, ".");
	module_text_link(out, "", plan->link, &plan->forecast, ".");
	if (!for_others)
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
}

void prime_print_left(const struct output *out, const struct jw_prime_result *result, bool by_size)
{
	const char *how = by_size ? "the same command with a larger --budget-size compiles them"
							  : "the same command continues";
	size_t left = result->undone + result->plan.over_budget;

	if (result->out_of_time)
		output_line(out, STYLE_WARN, "The time is up with %s left: %s.",
					TEXT_COUNT(left, "module", "modules"), how);
	else
		output_line(out, STYLE_WARN, "%s left: %s.", TEXT_COUNT(left, "module", "modules"), how);
}

void prime_bar_end(struct prime_bar *bar)
{
	if (bar->is_shown)
		progress_finish(&bar->progress);
	bar->is_shown = false;
}

void prime_bar_report(void *bar, const struct jw_prime_progress *report)
{
	struct prime_bar *prime_bar = bar;
	struct progress *progress = &prime_bar->progress;

	if (report->phase == JW_PRIME_KEEPING) {
		prime_bar_end(prime_bar);
		return;
	}
	if (!prime_bar->is_shown) {
		progress_start(progress, prime_bar->output, report->total, report->total_weight,
					   report->phase == JW_PRIME_CARRYING ? "carrying over" : "compiling");
		progress->phase = report->phase == JW_PRIME_CARRYING ? "carrying" : "compiling";
	}
	prime_bar->is_shown = true;
	progress->failed = report->failed;
	progress->current = report->current;
	progress->told_left_s = report->seconds_left;
	progress_update(progress, report->done, report->done_weight, report->done_bytes);
}

void prime_bar_message(void *bar, const char *line)
{
	struct prime_bar *prime_bar = bar;

	if (prime_bar->is_shown)
		progress_message(&prime_bar->progress, line);
	else
		output_note(prime_bar->output, "%s", line);
}

static int look_at_changes(struct jw_error *err, const struct options *options,
						   struct jw_run_state **ret_state, char **ret_changes)
{
	const struct jw_run_key key = {.names = options->operands,
								   .name_count = options->operand_count,
								   .cache_dir = options_value(options, "cache")};

	return jw_run_look(err, &key, ret_state, ret_changes);
}

int unattended_begin(struct jw_error *err, struct cli *cli, struct unattended *run)
{
	const struct options *options = &cli->options;

	run->time_s = os_now_s();
	run->began_ns = os_monotonic_ns();
	if (!options_has(options, "if-changed") || !options_given(options, "if-changed"))
		return 0;
	if (look_at_changes(err, options, &run->state, &run->changes))
		return -1;
	run->skip = !*run->changes;
	output_line(&cli->out, STYLE_PLAIN,
				run->skip ? "Nothing has changed since the last run%s." : "Changed: %s.",
				run->changes);
	return 0;
}

static int write_logs(struct jw_error *err, const struct cli *cli, const struct unattended *run)
{
	const char *file =
		options_has(&cli->options, "json-log") ? options_value(&cli->options, "json-log") : NULL;
	char *line = json_object_line(&document_run, run), *own = NULL;
	int result = 0;
	/* An account without a home has no log. */
	if (run->state && !jw_log_path(NULL, &own))
		result = jw_log_append(err, own, line);
	if (file && jw_log_append(err, file, line))
		result = -1;
	jw_text_free(own);
	cJSON_free(line);
	return result;
}

int unattended_end(struct jw_error *err, struct cli *cli, struct unattended *run)
{
	int failed = run->skip && document_print(&cli->out, &document_prime_skipped, run);

	run->seconds = (double)(os_monotonic_ns() - run->began_ns) / 1e9;
	run->status = (unsigned)cli->status;
	if (run->state ||
		(options_has(&cli->options, "json-log") && options_given(&cli->options, "json-log")))
		failed = failed || write_logs(err, cli, run);
	jw_run_state_free(run->state);
	jw_text_free(run->changes);
	return failed;
}
