/* jw_prime: four steps, in this order. */
#include <jitwarm/prime.h>

#include <string.h>

#include <jitwarm/key.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/outlook.h"
#include "cache/remove.h"
#include "cache/settings.h"
#include "driver/child.h"
#include "driver/installed_compilers.h"
#include "driver/run_folder.h"
#include "pack/folder.h"
#include "pack/ledger.h"
#include "pack/store_packs.h"
#include "plan/plan.h"
#include "prime/compile_plan.h"
#include "prime/planning.h"
#include "prime/reuse.h"
#include "prime/start_verdict.h"

/* The state of the four steps. */
struct priming {
	const struct jw_system *system;
	struct jw_prime_options options; /* the caller's options, with the system's additions */
	struct planning planning;
	struct run_folder staged; /* the packs that reuse_folder has copied */
	struct ledger ledger;     /* used from the second step on */
	struct set cold;          /* the names of the entries that the third step makes */
	struct jw_prime_result *result;
};

/* ---- before the first step: impossible requests are refused before anything is read */

/* Describes how the code of this compiler differs from the driver's own, if it does. */
static void describe_difference(const struct jw_system *system, const struct compiler *compiler,
								char inexact[1024])
{
	char driver[JW_DRIVER_TEXT];
	bool hopper = false;

	for (size_t i = 0; i < system->gpu_count; i++)
		hopper = hopper || system->gpus[i].target.sm == 90;
	(void)jw_driver_text(driver, &system->driver.version);
	if (!compiler->exact)
		(void)text_format(inexact, 1024,
						  "%.700s belongs to CUDA %u.%u, which is older than driver %s: its code "
						  "works, but is not the driver's own",
						  compiler->path, compiler->cuda / 1000, compiler->cuda % 1000 / 10,
						  driver);
	/* Source: docs/internals/driver-cache.md, [1]. */
	else if (hopper && system->driver.version.release[0] == 535)
		(void)text_format(inexact, 1024,
						  "on sm_90 driver %s writes an attribute that ptxas does not write: "
						  "entries by ptxas differ from the driver's own in some bytes",
						  driver);
}

/* Stands for the ptxas that find_ptxas has not searched for. */
static const char any_ptxas[] = "ptxas";

/* Finds, or fetches, the compiler for another machine: the named one, else that of its driver. */
static int find_ptxas(struct jw_error *err, struct priming *run)
{
	struct jw_prime_compile_options *how = &run->options.compile;
	const struct jw_driver *driver = &run->system->driver.version;
	struct compiler compiler;

	if (how->ptxas != any_ptxas && driver->cuda
			? compiler_named(err, run->result, driver, how->ptxas, &compiler)
			: compiler_find(err, run->result, driver, how->fetch, &compiler))
		return -1;
	describe_difference(run->system, &compiler, run->result->compile.inexact);
	how->ptxas = compiler.path;
	return 0;
}

static int check_request(struct jw_error *err, struct priming *run)
{
	const struct jw_system *system = run->system;
	struct jw_prime_options *options = &run->options;
	const struct jw_export_options *pack = options->keep.pack;
	const bool compiles = !options->dry_run;

	if (!options->dry_run && child_check_command(err, system->worker))
		return -1;
	if (!system->gpu_count)
		return error_set(err, JW_ERR_NOT_FOUND, "%s", system->why_none);
	if (options->reuse.folder.path) {
		struct jw_store_folder *folder = &options->reuse.folder;

		if (!folder->state_dir)
			folder->state_dir = system->state_dir;
		if (child_check_command(err, system->worker) ||
			(folder->sign_key && jw_key_check(err, folder->state_dir, folder->sign_key)))
			return -1;
	}
	if (system->elsewhere && compiles && options->compile.ptxas && find_ptxas(err, run))
		return -1;
	/* The prediction is for ptxas. Which one it is, is decided once there is something to compile:
	 * a file without device code costs no download. */
	if (system->elsewhere && !options->compile.ptxas)
		options->compile.ptxas = any_ptxas;
	return compiles && pack && pack->sign_key ? jw_key_check(err, system->state_dir, pack->sign_key)
											  : 0;
}

/* ---- 1. plan: the modules, and which of them are cold */

static int plan_step(struct jw_error *err, struct priming *run)
{
	const struct jw_system *system = run->system;
	struct jw_prime_result *outcome = run->result;
	struct plan *plan;
	struct ledger ledger;
	struct jw_cache_outlook cache;

	/* This is done even if everything is warm: an earlier run may have been killed after its last
	 * module. */
	run_folder_sweep(system->state_dir);
	if (planning_make(err, system, &run->options, outcome, &run->planning))
		return -1;
	plan = run->planning.plan;
	ledger_open(&ledger, ledger_home(system), system->cache.path);
	planning_note_refused(plan, &ledger, &run->options, outcome);
	cache_outlook(system->cache.path, system->cache.limit_bytes, false, &cache);
	outcome->verdict = verdict_of(plan, &run->planning.found, &system->cache, true, &cache);
	if (run->options.plan.recording)
		outcome->verdict = recorded_verdict(plan, &run->planning.recorded, outcome->verdict);
	ledger_close(&ledger);
	/* A plan that no cache helps is refused before anything is fetched or compiled. */
	if (outcome->verdict == JW_VERDICT_USELESS)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s", system->cache.why_useless);
	return 0;
}

/* ---- 2. reuse (reuse.c): what is left to compile */

/* Finds the modules that runs have compiled: here, or where the recording was made, whose modules
 * are noted like those of a run here. Returns their number. */
static size_t find_used(struct priming *run)
{
	struct plan *plan = run->planning.plan;
	size_t count = ledger_find_used(&run->ledger, plan);

	for (size_t i = 0; run->options.plan.recording && i < plan->module_count; i++) {
		struct plan_module *module = &plan->modules[i];

		/* Texts are in no file. */
		if (module->used || module->keyed || module->state == PLAN_LEFT_OUT)
			continue;
		module->used = true;
		count++;
	}
	if (run->options.plan.recording && !run->options.dry_run)
		ledger_note_used(&run->ledger, ledger_home(run->system));
	return count;
}

/* Returns whether packs come from a folder, and go there, besides the store. */
static bool uses_folder(const struct priming *run)
{
	return run->options.reuse.folder.path && !run->system->elsewhere && !run->system->scratch &&
		   !run->system->cache.why_useless[0] && run->system->driver.stamp[0] &&
		   run->system->driver.trust != JW_TRUST_OPAQUE;
}

/* Takes results from the store and from former drivers, then finds the modules that are left to
 * compile, why, and how many of them the limit and budgets allow. */
static int reuse_step(struct jw_error *err, struct priming *run)
{
	const struct jw_system *system = run->system;
	const struct jw_prime_options *options = &run->options;
	struct jw_prime_result *outcome = run->result;
	struct jw_prime_plan *sum = &outcome->plan;
	struct plan *plan = run->planning.plan;

	reuse_store(system, options, plan, outcome);
	if (uses_folder(run) && (run_folder_make(err, system->state_dir, &run->staged) ||
							 reuse_folder(err, system, options, run->staged.path, plan, outcome)))
		return -1;
	reuse_other_drivers(system, options, run->staged.path, plan, outcome);
	ledger_open(&run->ledger, ledger_home(system), system->cache.path);
	cache_outlook(system->cache.path, system->cache.limit_bytes, true, &sum->cache);
	planning_sum_up(plan, options, sum);
	ledger_begin(&run->ledger, plan);
	if (!find_used(run) && options->plan.used_only && sum->cold)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "no “jitwarm run” has noted which of these modules programs use: start "
						 "one (“jitwarm run -- PROGRAM”), or leave out --used-only");
	planning_explain(system, plan, sum);
	planning_choose(plan, system, options, outcome);
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD && plan->modules[i].key)
			set_put(&run->cold, plan->modules[i].key, i);
	/* A budget makes the rest fit. */
	if (outcome->verdict == JW_VERDICT_NO_ROOM && !sum->too_much)
		outcome->verdict = JW_VERDICT_COLD;
	return 0;
}

/* ---- 3. compile */

static void keep_in_store(const struct jw_system *system, const struct jw_prime_options *options,
						  struct jw_prime_result *outcome)
{
	const struct jw_store_keep_options how = {.system = system, .cancel = options->cancel};
	const size_t made = outcome->compile.compiled + outcome->reuse.from_folder.entries;
	/* The last report: everything is done. */
	const struct jw_prime_progress progress = {.phase = JW_PRIME_KEEPING,
											   .done = made,
											   .total = made,
											   .failed = outcome->compile.failed,
											   .done_weight_ms = 1,
											   .total_weight_ms = 1,
											   .current = ""};

	if (options->progress)
		options->progress(options->context, &progress);
	(void)jw_store_keep(&outcome->keep.not_kept, &how, &outcome->keep.kept);
}

/* Repairs only the index, if nothing is compiled that would be inserted. */
static int repair_index(struct jw_error *err, const struct jw_system *system)
{
	const struct cache_live_options how = {.limit_bytes = system->cache.limit_bytes};
	struct cache_live *live;
	int result;

	if (cache_live_open(err, system->cache.path, &how, &live))
		return -1;
	result = cache_remove_settle(err, live);
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	return result;
}

static int compile_step(struct jw_error *err, struct priming *run)
{
	const struct jw_system *system = run->system;
	const struct jw_prime_options *options = &run->options;
	struct jw_prime_result *outcome = run->result;
	const struct jw_cache_outlook *cache = &outcome->plan.cache;
	const bool unsound = (cache->text[0] && !cache->evicted) || cache->uncounted;
	int result = 0;

	if (options->compile.ptxas == any_ptxas && outcome->plan.cold && !outcome->plan.too_much &&
		!options->dry_run && find_ptxas(err, run))
		return -1;
	/* This holds until a run has counted its results (run_plan), whatever prevents that. */
	outcome->compile.undone = outcome->plan.cold;
	if ((!options->planned || options->planned(options->context, outcome)) && !options->dry_run &&
		!outcome->plan.too_much && !system->cache.why_useless[0]) {
		/* A run that compiles needs no repair_index: each insert repairs the index first. */
		if (outcome->plan.cold)
			result = compile_in_turn(err, run->planning.plan, system, options, outcome);
		else if (unsound)
			result = repair_index(err, system);
		outcome->compile.repaired = unsound && !result && !outcome->compile.stopped.code;
	}
	planning_note_assumptions(run->planning.plan, outcome);
	return result;
}

/* ---- 4. keep: in the store, in a pack, and the fact that the run was complete */

static void write_pack(const struct priming *run)
{
	const struct jw_system *system = run->system;
	struct jw_export_options how = *run->options.keep.pack;
	struct jw_error *err = &run->result->keep.not_packed, why = {0};
	struct jw_target *targets;
	struct jw_export_result *pack;

	if (run->result->compile.interrupted || cancel_asked(&run->options.cancel)) {
		error_set(err, JW_ERR_INTERRUPTED, "%s is not written%s", how.output,
				  system->scratch ? ", and what was compiled is gone: with -o DIR/ an interrupted "
									"run can continue"
								  : "");
		return;
	}
	pack = arena_alloc(run->result, sizeof *pack);
	targets = arena_array(run->result, system->gpu_count, sizeof *targets);
	how.system = system;
	how.targets = targets;
	how.target_count = jw_system_targets(system, targets, system->gpu_count);
	how.state_dir = system->state_dir;
	how.cancel = run->options.cancel;
	if (!jw_export(&why, &how, pack))
		run->result->keep.pack = pack;
	else if (why.code == JW_ERR_NOT_FOUND)
		error_set(err, JW_ERR_UNSUPPORTED, "%s is not written: no entry is left to put into it",
				  how.output);
	else
		error_copy(err, &why);
}

/* Returns whether this run has compiled an entry of the cache. */
static bool was_compiled(void *context, uint64_t key, const struct jw_identity *identity)
{
	(void)identity;
	return set_has(context, key);
}

/* Puts a pack with what this run has compiled into the folder, which has answered before. */
static void keep_in_folder(struct priming *run)
{
	const struct jw_system *system = run->system;
	const struct jw_store_folder *folder = &run->options.reuse.folder;
	const struct folder_request request = {
		.folder = folder, .system = system, .cancel = run->options.cancel};
	struct jw_store_traffic *traffic = &run->result->reuse.folder;
	struct run_folder made = {0};
	struct store_addition addition = {.system = system,
									  .sign_key = folder->sign_key,
									  .state_dir = folder->state_dir,
									  .cancel = run->options.cancel,
									  .context = &run->cold,
									  .wanted = was_compiled};
	struct jw_error why = {0};
	size_t entries = 0;
	int result = run_folder_make(&why, system->state_dir, &made);

	addition.folder = made.path;
	if (!result)
		result = store_add(&why, &addition, &entries);
	if (!result && entries)
		result = folder_put(&why, &request, made.path, traffic);
	if (result)
		TEXT_COPY(traffic->trouble, why.message);
	else
		traffic->placed = entries;
	run_folder_remove(&made);
}

/* Keeps the results: in the store and the folder, as a remembered run, and as a pack. */
static void keep_step(struct priming *run)
{
	const struct jw_prime_options *options = &run->options;
	struct jw_prime_result *outcome = run->result;
	const struct jw_prime_compiled *compiled = &outcome->compile;

	/* Skipped after Ctrl-C: the next run that compiles stores these results, too. */
	if (outcome->reuse.store && (compiled->compiled || outcome->reuse.from_folder.entries) &&
		!cancel_asked(&options->cancel))
		keep_in_store(run->system, options, outcome);
	if (uses_folder(run) && compiled->compiled && !*outcome->reuse.folder.trouble &&
		!cancel_asked(&options->cancel))
		keep_in_folder(run);
	if (options->keep.run && !options->dry_run && jw_run_left_nothing(outcome))
		(void)jw_run_remember(&outcome->keep.not_remembered, options->keep.run);
	if (options->keep.pack && !options->dry_run)
		write_pack(run);
}

int jw_prime(struct jw_error *err, const struct jw_system *system,
			 const struct jw_prime_options *options, struct jw_prime_result **ret_result)
{
	struct priming run = {.system = system, .options = *options};
	int result = 0;

	run.result = arena_open(sizeof *run.result);
	if (check_request(err, &run) || plan_step(err, &run) || reuse_step(err, &run) ||
		compile_step(err, &run))
		result = -1;
	/* The memory is freed for packing the results. */
	ledger_close(&run.ledger);
	planning_free(&run.planning);
	run_folder_remove(&run.staged);
	if (!result) {
		keep_step(&run);
		*ret_result = run.result;
		run.result = NULL;
	}
	set_free(&run.cold);
	jw_result_free(run.result);
	return result;
}
