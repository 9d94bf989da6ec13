#include "cli/parts/prime_outcome.h"

#include <string.h>

#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/parts/prime_text.h"
#include "cli/parts/reproduce.h"
#include "os/memory.h"

enum { LOG_LINES = 6 };

static void print_failure(const struct prime_outcome *priming,
						  const struct jw_prime_failure *failure)
{
	const struct output *out = &priming->cli->out;
	char *command = reproduce_command(NULL, &priming->cli->options, failure);
	char target[JW_TARGET_TEXT];

	output_warning(out, "%s%s%s at 0x%llx (%s): %s", failure->path, failure->member ? ": " : "",
				   failure->member ? failure->member : "", (unsigned long long)failure->offset,
				   jw_target_sm(target, failure->target), failure->reason);
	output_log(out, output_warning, failure->log, LOG_LINES);
	if (command)
		output_command(out, "to see it again", command);
	mem_free(command);
}

static void print_where(const struct prime_outcome *priming, const struct jw_prime_result *result)
{
	char driver[JW_DRIVER_TEXT];

	if (result->compiled && !result->failed && !result->undone && !priming->cli->system->scratch)
		output_line(&priming->cli->out, STYLE_PLAIN,
					"%s has what driver %s looks for there (set CUDA_CACHE_PATH).",
					priming->cli->system->cache.path,
					jw_driver_text(driver, &priming->cli->system->driver.version));
}

void prime_outcome_print_result(const struct prime_outcome *priming,
								const struct jw_prime_result *result)
{
	const struct output *out = &priming->cli->out;
	char time[TEXT_SHORT], bytes[TEXT_SHORT];

	for (size_t i = 0; i < result->failure_count; i++)
		print_failure(priming, &result->failures[i]);
	if (result->opaque)
		output_warning(
			out,
			"jitwarm does not know the form of this driver's cache: the driver filled it "
			"in %s and added %s; their kinds are unknown",
			text_duration(time, result->seconds), TEXT_COUNT(result->compiled, "entry", "entries"));
	else if (result->compiled)
		prime_print_compiled(out, result);
	else if (result->met && !result->undone && !result->failed)
		output_line(out, STYLE_GOOD, "Warm: the other run has compiled %s.",
					result->met == 1 ? "the one module" : "all of them");
	prime_share_print(out, result);
	if (result->repaired)
		output_line(out, STYLE_GOOD, "The cache's index is repaired.");
	if (result->evicted)
		output_warning(out,
					   "%s evicted, as at a driver's own insert: the cache keeps %s "
					   "(CUDA_CACHE_MAXSIZE)",
					   TEXT_COUNT(result->evicted, "old entry", "old entries"),
					   text_bytes(bytes, priming->cli->system->cache.limit_bytes));
	if (result->cooled)
		output_warning(out,
					   "%s of them made by the driver in use: what was warm by them is cold again; "
					   "set a larger CUDA_CACHE_MAXSIZE (“jitwarm tune”), or prime fewer packages",
					   TEXT_COUNT(result->cooled, "entry is", "entries are"));
	if (result->failed)
		output_warning(out, "%s could not be compiled",
					   TEXT_COUNT(result->failed, "module", "modules"));
	if (result->interrupted)
		output_warning(out, "interrupted with %s left%s",
					   TEXT_COUNT(result->undone, "module", "modules"),
					   priming->cli->system->scratch ? "" : "; the same command compiles the rest");
	else if ((result->out_of_time || result->plan.over_budget) && !result->stopped.code &&
			 !priming->only_plan)
		prime_print_left(out, result, options_given(&priming->cli->options, "budget-size"));
	else if (priming->elsewhere.given)
		print_where(priming, result);
	else if ((result->compiled || result->shared.fetched) && !result->failed && !result->undone &&
			 !result->opaque)
		output_line(out, STYLE_PLAIN,
					priming->recording ? "No recorded module is left to compile here."
					: options_given(&priming->cli->options, "only")
						? "Only what --only names was compiled; “jitwarm check” says what else a "
						  "start compiles."
					: result->plan.left_out || result->plan.cannot
						? "Start your program again: of these files it has to compile only "
						  "the modules named above."
						: "Start your program again: it has nothing left to compile.");
	if (result->plan.too_much)
		output_error(out, "%s", result->stopped.message);
	else if (result->stopped.code)
		output_error(out, "stopped with %s left: %s",
					 TEXT_COUNT(result->undone, "module", "modules"), result->stopped.message);
}

int prime_outcome_document(struct jw_error *err, const struct prime_outcome *priming,
						   const struct jw_prime_result *result)
{
	const struct jw_store_refilled *refilled = &result->reuse.refilled;
	const struct jw_carry_result *carried = result->reuse.carried;
	const struct export_document pack = {.file = priming->elsewhere.pack.output,
										 .result = result->pack ? *result->pack
																: (struct jw_export_result){0}};
	struct prime_document values = {
		.result = *result,
		.failures = mem_array(err, result->failure_count, sizeof *values.failures),
		.peak_supervisor_bytes = os_peak_resident_bytes(),
		.refilled = refilled->entries || refilled->note_count ? refilled : NULL,
		.carried = carried && carried->group_count ? carried : NULL,
		.pack = result->pack ? &pack : NULL,
		.baked = priming->baked ? *priming->baked : (struct jw_baked_list){0},
		.shared = priming->share.options.place ? &result->shared : NULL,
	};
	int failed = values.failures ? 0 : -1;

	values.result.plan.cold += result->plan.over_budget;
	for (size_t i = 0; !failed && i < result->failure_count; i++) {
		struct prime_failure *failure = &values.failures[i];

		failure->failure = result->failures[i];
		failure->command = reproduce_command(err, &priming->cli->options, &result->failures[i]);
		failed = failure->command ? 0 : -1;
	}
	failed = failed || document_print(err, &priming->cli->out, &document_prime, &values);
	for (size_t i = 0; values.failures && i < result->failure_count; i++)
		mem_free(values.failures[i].command);
	mem_free(values.failures);
	return failed ? -1 : 0;
}

enum exit_status prime_outcome_status_of_error(const struct jw_error *err)
{
	switch ((int)err->code) {
	case JW_ERR_UNSUPPORTED: return EXIT_CANNOT;
	case JW_ERR_LIMIT: return EXIT_COLD;
	default: return exit_of(err->code);
	}
}

enum exit_status prime_outcome_status(const struct prime_outcome *priming,
									  const struct jw_prime_result *result)
{
	const struct jw_found *found = priming->files.found;
	const size_t troubles = result->troubles + (found ? found->trouble_count : 0);
	/* Recorded files that are missing here count as work left undone. */
	enum exit_status status = exit_of_troubles(troubles, priming->recording ? 1 : result->images);

	if (priming->only_plan || result->verdict == JW_VERDICT_NOTHING)
		status = exit_combine(status, exit_of_verdict(result->verdict));
	if (priming->only_plan)
		return status;
	/* A module without an entry cannot be shown to be warm. */
	if (result->interrupted || result->undone || result->failed || result->unchanged ||
		result->misjudged || result->plan.over_budget || result->cooled)
		status = exit_combine(status, EXIT_COLD);
	if (result->plan.hopeless)
		status = exit_combine(status, EXIT_CANNOT);
	/* The reason why modules are left undone. */
	if (result->stopped.code)
		status = exit_combine(result->stopped.code == JW_ERR_UNSUPPORTED ? EXIT_DONE : status,
							  prime_outcome_status_of_error(&result->stopped));
	return status;
}
