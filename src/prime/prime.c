#include <jitwarm/prime.h>

#include <jitwarm/key.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/sized.h"
#include "cache/outlook.h"
#include "cache/remove.h"
#include "history/ledger.h"
#include "os/clock.h"
#include "prime/compile_plan.h"
#include "prime/elsewhere.h"
#include "prime/planning.h"
#include "prime/reuse.h"
#include "prime/start_verdict.h"
#include "run/prime_result.h"
#include "run/trace.h"
#include "state/run_folder.h"
#include "worker/worker_command.h"

/* Refuses what no cache helps, before anything is fetched or compiled. */
static int judge_plan(struct jw_error *err, const struct jw_system *system,
					  const struct planning *planning, struct jw_prime_result *result)
{
	struct jw_cache_outlook outlook;

	cache_outlook(system->cache.path, system->cache.limit_bytes, false, &outlook);
	result->verdict =
		verdict_of(planning->plan, planning->found->file_count, &system->cache, true, &outlook);
	if (result->verdict == JW_VERDICT_USELESS)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s", system->cache.why_useless);
	if (result->verdict == JW_VERDICT_NO_ROOM && !system->cache.limit_bytes)
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"CUDA_CACHE_MAXSIZE makes the driver store nothing: unset it, or give it a "
			"number of bytes");
	return 0;
}

/* What other compilers make is not the driver's own. */
static int take_share(struct jw_error *err, const struct jw_system *system,
					  struct jw_prime_options *options, struct jw_share_options *share)
{
	const struct jw_share_options *given =
		options->share ? SIZED(err, options->share, struct jw_share_options) : NULL;

	if (!options->share)
		return 0;
	if (!given)
		return -1;
	if (options->ptxas || system->elsewhere)
		return error_set(err, JW_ERR_USAGE,
						 "only what this machine's driver compiles is shared while compiling");
	*share = *given;
	if (!share->state_dir)
		share->state_dir = system->state_dir;
	options->share = share;
	return share->sign_key ? jw_key_check(err, share->state_dir, share->sign_key, share->passphrase)
						   : 0;
}

static int check_prime_options(struct jw_error *err, const struct jw_prime_options *options)
{
	return options->carry_over && options->recompile_carried
			   ? error_set(err, JW_ERR_USAGE,
						   "carry-over takes what older drivers have compiled, and "
						   "recompile-carried replaces it: one at a time")
			   : 0;
}

/* The index alone, where nothing is compiled that would be inserted. */
static int repair_index(struct jw_error *err, const struct jw_system *system)
{
	const struct cache_live_options how = {.limit_bytes = system->cache.limit_bytes};
	struct cache_live *live;
	int result;

	if (cache_live_open(err, system->cache.path, &how, &live))
		return -1;
	result = cache_remove_settle(err, live);
	return cache_live_close(result ? NULL : err, live) ? -1 : result;
}

/* Each insert repairs the index first. */
static int carry_out(struct jw_error *err, struct plan *plan, const struct jw_system *system,
					 const struct jw_prime_options *options, struct trace *trace,
					 struct jw_prime_result *result)
{
	const struct jw_cache_outlook *cache = &result->plan.cache;
	const bool unsound = (cache->text[0] && !cache->evicted) || cache->uncounted;
	int failed = 0;

	if (result->plan.cold)
		failed = compile_plan(err, plan, system, options, trace, result);
	else if (unsound)
		failed = repair_index(err, system);
	result->repaired = unsound && !failed && !result->stopped.code;
	return failed;
}

/* Modules that cannot be compiled would fail again: only a change starts another try. */
static bool is_complete(const struct jw_prime_options *options,
						const struct jw_prime_result *result)
{
	return !options->dry_run && !result->undone && !result->interrupted &&
		   !result->sources_failed && (result->images || !result->troubles);
}

static void keep_results(const struct jw_system *system, const struct jw_prime_options *options,
						 struct jw_prime_result *result)
{
	/* Skipped after Ctrl-C: the next run that compiles keeps these results too. */
	if ((result->compiled || result->shared.fetched) && !cancel_asked(&options->cancel))
		reuse_keep(system, options, &result->reuse);
	if (options->run && is_complete(options, result))
		(void)jw_run_remember(&result->not_remembered, options->run);
	elsewhere_write_pack(system, options, result);
}

/* From the files to the last result. */
static int prime_system(struct jw_error *err, const struct jw_system *system,
						const struct jw_prime_options *options, struct jw_prime_result *result)
{
	const char *home = ledger_home(system);
	struct planning planning = {0};
	struct ledger ledger = {0};
	struct trace *trace = NULL;
	struct jw_error why = {0};
	uint64_t began_ns = os_monotonic_ns();
	int failed = -1;

	/* Also if everything is warm: an earlier run may have been killed after its last module. */
	run_folder_sweep(system->state_dir);
	if ((options->trace && trace_open(err, options->trace, &trace)) ||
		planning_make(err, system, options, result, &planning) ||
		judge_plan(err, system, &planning, result))
		goto done;
	if (reuse_store_results(err, system, options, planning.plan, &result->reuse) ||
		reuse_carry_over(err, system, options, planning.plan, &result->reuse))
		goto done;
	if (result->reuse.carried)
		result->cooled += result->reuse.carried->cooled;
	trace_slice(trace, TRACE_SUPERVISOR, "reading files", began_ns);
	ledger_open(&ledger, home, system->cache.path);
	ledger.elsewhere = system->elsewhere;
	planning_note_carried(planning.plan, &ledger, options->recompile_carried);
	cache_outlook(system->cache.path, system->cache.limit_bytes, true, &result->plan.cache);
	planning_sum_up(planning.plan, options, &result->plan);
	if (ledger_begin(err, &ledger, planning.plan) ||
		planning_explain(err, system, &planning, &ledger, &result->plan) ||
		planning_choose(err, planning.plan, system, options, result))
		goto done;
	failed = 0;
	/* A budget makes room, and what was carried over may be wanted anew. */
	if ((result->verdict == JW_VERDICT_NO_ROOM && !result->plan.too_much) ||
		(result->plan.anew && !jw_verdict_status(result->verdict)))
		result->verdict = JW_VERDICT_COLD;
	if ((options->planned && !options->planned(options->context, result)) || options->dry_run ||
		result->plan.too_much || system->cache.why_useless[0])
		result->undone = result->plan.cold;
	else
		failed = carry_out(err, planning.plan, system, options, trace, result);
	ledger_note(&ledger, home, true);
done:
	if (trace_close(&why, trace) && !failed)
		failed =
			prime_result_add_note(err, result, "the trace has not all events: %s", why.message);
	ledger_close(&ledger);
	planning_free(&planning);
	return failed;
}

int jw_prime(struct jw_error *err, const struct jw_system *system,
			 const struct jw_prime_options *options, struct jw_prime_result **ret_result)
{
	options = SIZED(err, options, struct jw_prime_options);
	if (!options)
		return -1;
	struct jw_prime_options how = *options;
	struct jw_share_options share;
	struct jw_compiler compiler = {0};
	struct jw_prime_result *result;
	int failed = -1;

	if (!how.dry_run && worker_command_check(err, system->worker))
		return -1;
	result = mem_alloc(err, sizeof *result);
	if (!result)
		return -1;
	if (!system->gpu_count)
		error_set(err, JW_ERR_NOT_FOUND, "%s", system->why_none);
	else
		failed = check_prime_options(err, &how) || take_share(err, system, &how, &share) ||
				 elsewhere_prepare(err, system, &how, result, &compiler);
	/* A dry run looks for no compiler, but predicts for ptxas. */
	if (system->elsewhere)
		how.ptxas = how.dry_run ? "ptxas" : compiler.path;
	failed = failed || prime_system(err, system, &how, result);
	if (!failed)
		keep_results(system, &how, result);
	jw_compiler_free(&compiler);
	if (failed) {
		jw_prime_result_free(result);
		return -1;
	}
	*ret_result = result;
	return 0;
}

void jw_prime_result_free(struct jw_prime_result *result)
{
	if (!result)
		return;
	prime_result_forget_failures(result);
	jw_lines_free(result->notes, result->note_count);
	mem_free(result->gpus);
	mem_free(result->failures);
	mem_free(result->pack);
	mem_free(result->slices);
	jw_carry_result_free(result->reuse.carried);
	mem_free(result);
}
