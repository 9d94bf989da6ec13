#include <jitwarm/prime.h>

#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>
#include <jitwarm/key.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/remove.h"
#include "cache/settings.h"
#include "compile/installed_compilers.h"
#include "machine/speed_gauge.h"
#include "os/env.h"
#include "plan/plan.h"
#include "prime/planning.h"
#include "prime/start_verdict.h"
#include "run/run_report.h"
#include "state/ledger.h"
#include "state/run_folder.h"
#include "worker/environment.h"

/* ---- earlier results: packs of the store, and entries of other drivers that are carried over */

/* Names of entries that the cache lacks, and the lengths of their keys. */
struct wanted {
	uint64_t *keys, *key_bytes, *warm;
	size_t *modules; /* in the plan */
	bool *found;     /* with dry_run */
	size_t count, warm_count;
};

static bool uses_store(const struct jw_system *system, const struct jw_prime_options *options)
{
	char *setting = os_env("JITWARM_STORE");
	bool off = setting && !strcmp(setting, "0");

	mem_free(setting);
	return !off && !options->no_store && system->state_dir && !system->scratch &&
		   !system->cache.named && !system->cache.why_useless[0];
}

/* `budget_bytes`, 0: none; what it has no room for is not wanted. The most expensive modules come
 * first in the plan. */
static int list_wanted(const struct plan *plan, uint64_t budget_bytes, struct wanted *wanted)
{
	uint64_t left = budget_bytes ? budget_bytes : UINT64_MAX;

	wanted->keys = mem_array(plan->module_count, sizeof *wanted->keys);
	wanted->key_bytes = mem_array(plan->module_count, sizeof *wanted->key_bytes);
	wanted->warm = mem_array(plan->module_count, sizeof *wanted->warm);
	wanted->modules = mem_array(plan->module_count, sizeof *wanted->modules);
	wanted->found = mem_array(plan->module_count, sizeof *wanted->found);
	if ((!wanted->key_bytes) || !wanted->warm || !wanted->modules || !wanted->found)
		return -1;
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (module->state == PLAN_WARM) {
			wanted->warm[wanted->warm_count++] = module->key;
			left = left > module->entry_bytes ? left - module->entry_bytes : 0;
		}
	}
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (module->state != PLAN_COLD || !module->key || module->entry_bytes > left)
			continue;
		wanted->modules[wanted->count] = i;
		wanted->key_bytes[wanted->count] = module->key_bytes;
		wanted->keys[wanted->count++] = module->key;
		left -= module->entry_bytes;
	}
	return 0;
}

static void reuse_store(const struct jw_system *system, const struct jw_prime_options *options,
						const struct wanted *wanted, struct jw_prime_reuse *reuse)
{
	const struct jw_store_refill_options how = {
		.system = system,
		.keys = wanted->keys,
		.count = wanted->count,
		.dry_run = options->dry_run,
		.found = wanted->found,
		.replace = options->recompile_carried && !strcmp(system->user_stamp, system->driver.stamp),
		.cancel = options->cancel};

	(void)jw_store_refill(&reuse->not_refilled, &how, &reuse->refilled);
}

static void tell_carried(void *context, size_t done, size_t total)
{
	const struct jw_prime_options *options = context;
	const struct jw_prime_progress progress = {
		.phase = JW_PRIME_CARRYING, .done = done, .total = total, .current = ""};

	options->progress(options->context, &progress);
}

static void carry_over(const struct jw_system *system, const struct jw_prime_options *options,
					   const struct wanted *wanted, struct jw_prime_reuse *reuse)
{
	struct jw_prime_options told = *options;
	const struct jw_carry_options how = {
		.system = system,
		.keys = wanted->keys,
		.key_bytes = wanted->key_bytes,
		.count = wanted->count,
		.kept = wanted->warm,
		.kept_count = wanted->warm_count,
		.carry_over = options->carry_over,
		/* What comes from packs is not measured against a budget. */
		.store = reuse->store && !options->budget_bytes,
		.dry_run = options->dry_run,
		.found = wanted->found,
		.most_bytes = options->budget_bytes,
		.cancel = options->cancel,
		.context = &told,
		.progress = options->progress ? tell_carried : NULL,
	};

	(void)jw_carry(&reuse->not_carried, &how, &reuse->carried);
}

/* Takes out entries that are damaged and still as they were, so that others can take their names.
 * Where that fails they are replaced when their modules are compiled. */
static void remove_damaged(const struct jw_system *system, const struct plan *plan)
{
	const struct cache_live_options how = {.limit_bytes = system->cache.limit_bytes};
	struct cache_removal *removals = mem_array(plan->module_count, sizeof *removals);
	struct cache_live *live = NULL;
	size_t count = 0;

	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].damage &&
			mend_judge(plan->cache_dir, sound_driver_of(&system->driver), plan->modules[i].key,
					   &removals[count]) == MEND_TAKE)
			count++;
	if (count && !cache_live_open(NULL, plan->cache_dir, &how, &live)) {
		(void)cache_remove(NULL, live, removals, count);
		(void)cache_live_close(NULL, live);
	}
	mem_free(removals);
}

/* What is there now is warm; what a dry run has found would be. */
static void take_restored(struct plan *plan, const struct wanted *wanted)
{
	plan_look_again(plan);
	for (size_t i = 0; i < wanted->count; i++) {
		struct plan_module *module = &plan->modules[wanted->modules[i]];

		if (wanted->found[i])
			module->state = PLAN_RESTORED;
		module->restored = module->state != PLAN_COLD;
	}
}

static void wanted_free(struct wanted *wanted)
{
	mem_free(wanted->modules);
	mem_free(wanted->found);
	mem_free(wanted->keys);
	mem_free(wanted->key_bytes);
	mem_free(wanted->warm);
}

int planning_reuse_store(const struct jw_system *system, const struct jw_prime_options *options,
						 struct plan *plan, struct jw_prime_reuse *reuse)
{
	struct wanted wanted = {0};
	int result;

	if (!options->dry_run && !system->cache.why_useless[0])
		remove_damaged(system, plan);
	result = list_wanted(plan, options->budget_bytes, &wanted);
	reuse->store = uses_store(system, options);
	if (!result && wanted.count && reuse->store) {
		reuse_store(system, options, &wanted, reuse);
		take_restored(plan, &wanted);
	}
	wanted_free(&wanted);
	return result;
}

/* The same from other drivers. */
static int reuse_carry_over(const struct jw_system *system, const struct jw_prime_options *options,
							struct plan *plan, struct jw_prime_reuse *reuse)
{
	struct wanted wanted = {0};
	int result = list_wanted(plan, 0, &wanted);

	if (!result && wanted.count) {
		carry_over(system, options, &wanted, reuse);
		take_restored(plan, &wanted);
	}
	wanted_free(&wanted);
	return result;
}

/* Keeps the run's results in the store. */
static void reuse_keep(const struct jw_system *system, const struct jw_prime_options *options,
					   struct jw_prime_result *result)
{
	const struct jw_store_keep_options how = {.system = system, .cancel = options->cancel};
	const size_t made = result->compiled + result->shared.fetched;
	/* The last report: all is done. */
	const struct jw_prime_progress progress = {.phase = JW_PRIME_KEEPING,
											   .done = made,
											   .total = made,
											   .failed = result->failed,
											   .done_weight = 1,
											   .total_weight = 1,
											   .current = ""};
	struct jw_prime_reuse *reuse = &result->reuse;

	if (!reuse->store)
		return;
	if (options->progress)
		options->progress(options->context, &progress);
	(void)jw_store_keep(&reuse->not_kept, &how, &reuse->kept);
}

/* ---- for another machine: the ptxas that compiles, and the pack of the results */

/* Source: docs/driver-cache.md, [1]. */
static bool has_one_attribute_more(const struct jw_system *system)
{
	for (size_t i = 0; i < system->gpu_count; i++)
		if (system->driver.version.release[0] == 535 && system->gpus[i].target.sm == 90)
			return true;
	return false;
}

static void tell_difference(const struct jw_system *system, const struct jw_compiler *compiler,
							struct jw_prime_result *result)
{
	char driver[JW_DRIVER_TEXT];

	(void)jw_driver_text(driver, &system->driver.version);
	if (!compiler->exact)
		(void)text_format(
			result->inexact, sizeof result->inexact,
			"%.700s is of CUDA %u.%u, older than driver %s: its code works there, but is "
			"not the driver's own",
			compiler->path, compiler->cuda / 1000, compiler->cuda % 1000 / 10, driver);
	else if (has_one_attribute_more(system))
		(void)text_format(
			result->inexact, sizeof result->inexact,
			"on sm_90 driver %s writes one attribute more into its results than ptxas "
			"does: they are not the driver's own to the last byte",
			driver);
}

/* Before a run: finds the compiler of the system's driver, says in *result where its code is not
 * the driver's own, and refuses a key that could not sign the pack. The caller frees *ret_compiler
 * with jw_compiler_free. */
static int elsewhere_prepare(struct jw_error *err, const struct jw_system *system,
							 const struct jw_prime_options *options, struct jw_prime_result *result,
							 struct jw_compiler *ret_compiler)
{
	const struct jw_export_options *pack = options->pack;

	if (options->dry_run || options->no_compile)
		return 0;
	if (system->elsewhere) {
		if (compiler_find(err, &system->driver.version, options->ptxas, options->fetch,
						  ret_compiler))
			return -1;
		tell_difference(system, ret_compiler, result);
		compiler_gauge(system, ret_compiler->path, &options->cancel);
	}
	return pack && pack->sign_key
			   ? jw_key_check(err, system->state_dir, pack->sign_key, pack->passphrase)
			   : 0;
}

static int write_target_pack(struct jw_error *err, const struct jw_system *system,
							 const struct jw_prime_options *options,
							 struct jw_export_result *ret_result)
{
	struct jw_target *targets = mem_array(system->gpu_count, sizeof *targets);
	struct jw_export_options how;
	struct jw_error why = {0};
	int failed = -1;

	if (targets) {
		how = *options->pack;
		how.system = system;
		how.targets = targets;
		how.target_count = jw_system_targets(system, targets, system->gpu_count);
		how.state_dir = system->state_dir;
		how.cancel = options->cancel;
		failed = jw_export(&why, &how, ret_result);
		if (failed && why.code == JW_ERR_NOT_FOUND)
			error_set(err, JW_ERR_UNSUPPORTED, "%s is not written: no entry is left to put into it",
					  how.output);
		else if (failed)
			error_copy(err, &why);
	}
	mem_free(targets);
	return failed;
}

/* After it: the pack that the options ask for. */
static void elsewhere_write_pack(const struct jw_system *system,
								 const struct jw_prime_options *options,
								 struct jw_prime_result *result)
{
	struct jw_error *err = &result->not_packed;
	struct jw_export_result *pack;

	if (!options->pack || options->dry_run)
		return;
	if (result->interrupted || cancel_asked(&options->cancel)) {
		error_set(err, JW_ERR_INTERRUPTED, "%s is not written%s", options->pack->output,
				  system->scratch ? ", and what was compiled is gone: with -o DIR/ an interrupted "
									"run can continue"
								  : "");
		return;
	}
	pack = mem_alloc(sizeof *pack);
	if (write_target_pack(err, system, options, pack))
		mem_free(pack);
	else
		result->pack = pack;
}

/* ---- the run */

/* Refuses what no cache helps, before anything is fetched or compiled. */
static int judge_plan(struct jw_error *err, const struct jw_system *system,
					  const struct planning *planning, struct jw_prime_result *result)
{
	struct jw_cache_outlook outlook;

	cache_outlook(system->cache.path, system->cache.limit_bytes, false, &outlook);
	result->verdict =
		verdict_of(planning->plan, planning->plan->images ? 1 : planning->found->file_count,
				   &system->cache, true, &outlook);
	if (planning->keys.recording)
		result->verdict = recorded_verdict(planning->plan, &planning->recorded, result->verdict);
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
	if (!options->share)
		return 0;
	if (options->ptxas || system->elsewhere)
		return error_set(err, JW_ERR_USAGE,
						 "only what this machine's driver compiles is shared while compiling");
	*share = *options->share;
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

/* Into a folder of this run, which has first what the store has: that is not compiled again. */
static int compile_for_store(struct jw_error *err, const struct plan *plan,
							 const struct jw_system *system, const struct jw_prime_options *options,
							 struct jw_prime_result *result)
{
	struct jw_system aside = *system;
	struct jw_prime_options look = *options;
	struct run_folder folder = {0};
	struct wanted wanted = {0};
	int failed = -1;

	look.dry_run = true;
	aside.cache.path = NULL;
	aside.cache.limit_bytes = CACHE_MOST_LIMIT;
	aside.user_stamp[0] = '\0';
	if (!uses_store(system, options))
		error_set(err, JW_ERR_UNSUPPORTED, "the store is not used");
	else if (!run_folder_make(err, system->state_dir, &folder) &&
			 (aside.cache.path = os_join(folder.path, "ComputeCache")) &&
			 !list_wanted(plan, 0, &wanted)) {
		reuse_store(&aside, &look, &wanted, &result->reuse);
		/* Nothing is unpacked to find all of it. */
		failed = result->reuse.refilled.entries == result->plan.cold ? 0 : -1;
		if (!failed) {
			result->undone = 0;
		} else {
			reuse_store(&aside, options, &wanted, &result->reuse);
			failed = compile_plan(err, plan, &aside, options, result);
		}
		if (result->compiled && !cancel_asked(&options->cancel))
			reuse_keep(&aside, options, result);
	}
	wanted_free(&wanted);
	mem_free(aside.cache.path);
	run_folder_remove(&folder);
	return failed;
}

/* Each insert repairs the index first. */
static int carry_out(struct jw_error *err, struct plan *plan, const struct jw_system *system,
					 const struct jw_prime_options *options, struct jw_prime_result *result)
{
	const struct jw_cache_outlook *cache = &result->plan.cache;
	const bool unsound = (cache->text[0] && !cache->evicted) || cache->uncounted;
	int failed = 0;

	if (result->plan.cold)
		failed = (options->store_only ? compile_for_store : compile_plan)(err, plan, system,
																		  options, result);
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
	if ((result->compiled || result->shared.fetched) && !options->store_only &&
		!cancel_asked(&options->cancel))
		reuse_keep(system, options, result);
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
	int failed = -1;

	/* Also if everything is warm: an earlier run may have been killed after its last module. */
	run_folder_sweep(system->state_dir);
	if (planning_make(err, system, options, result, &planning))
		goto done;
	ledger_open(&ledger, home, system->cache.path);
	if (planning_note_refused(err, planning.plan, &ledger, options, result) ||
		judge_plan(err, system, &planning, result))
		goto done;
	/* The store may have the driver's own results in place of those. */
	if (options->recompile_carried)
		planning_note_carried(planning.plan, &ledger, true);
	ledger_close(&ledger);
	if (planning_reuse_store(system, options, planning.plan, &result->reuse) ||
		reuse_carry_over(system, options, planning.plan, &result->reuse))
		goto done;
	if (result->reuse.carried)
		result->cooled += result->reuse.carried->cooled;
	ledger_open(&ledger, home, system->cache.path);
	ledger.elsewhere = system->elsewhere && !*system->user_stamp;
	planning_note_carried(planning.plan, &ledger, options->recompile_carried);
	cache_outlook(system->cache.path, system->cache.limit_bytes, true, &result->plan.cache);
	planning_sum_up(planning.plan, options, &result->plan);
	if (ledger_begin(&ledger, planning.plan) ||
		planning_explain(err, system, &planning, &ledger, &result->plan) ||
		planning_choose(planning.plan, system, options, result))
		goto done;
	failed = 0;
	/* A budget makes room, and what was carried over may be wanted anew. */
	if ((result->verdict == JW_VERDICT_NO_ROOM && !result->plan.too_much) ||
		(result->plan.anew && !jw_verdict_status(result->verdict)))
		result->verdict = JW_VERDICT_COLD;
	/* Until a run has counted what it has done (run_plan), whatever keeps it from that. */
	result->undone = result->plan.cold;
	if ((!options->planned || options->planned(options->context, result)) && !options->dry_run &&
		!options->no_compile && !result->plan.too_much && !system->cache.why_useless[0])
		failed = carry_out(err, planning.plan, system, options, result);
	failed = failed || planning_note_assumptions(planning.plan, result) ? -1 : 0;
	ledger_note(&ledger, home, true);
done:
	ledger_close(&ledger);
	planning_free(&planning);
	return failed;
}

int jw_prime(struct jw_error *err, const struct jw_system *system,
			 const struct jw_prime_options *options, struct jw_prime_result **ret_result)
{
	struct jw_prime_options how = *options;
	struct jw_share_options share;
	struct jw_compiler compiler = {0};
	struct jw_prime_result *result;
	int failed = -1;

	if (!how.dry_run && worker_command_check(err, system->worker))
		return -1;
	result = mem_alloc(sizeof *result);
	if (!system->gpu_count)
		error_set(err, JW_ERR_NOT_FOUND, "%s", system->why_none);
	else
		failed = check_prime_options(err, &how) || take_share(err, system, &how, &share) ||
				 elsewhere_prepare(err, system, &how, result, &compiler);
	/* What compiles nothing looks for no compiler, but predicts for ptxas. */
	if (system->elsewhere)
		how.ptxas = how.dry_run || how.no_compile ? "ptxas" : compiler.path;
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
	jw_carry_result_free(result->reuse.carried);
	mem_free(result);
}
