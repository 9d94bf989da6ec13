#include "prime/compile_plan.h"

#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/insert.h"
#include "cache/profile.h"
#include "cache/view.h"
#include "driver/driver_probe.h"
#include "driver/run_folder.h"
#include "driver/speed_model.h"
#include "driver/task.h"
#include "os/file.h"
#include "os/identity.h"
#include "pack/ledger.h"
#include "prime/planning.h"
#include "work/cache_turn_lock.h"
#include "work/run.h"
#include "work/spool.h"

/* The longest time that the event loop waits for the cache's lock; drivers wait as long. */
enum { LOCK_WAIT_MS = 200 };

/* Clears the counts before the plan is run again; that run counts the inserted entries, too. */
static void reset_counts(struct jw_prime_compiled *compiled)
{
	compiled->compiled = compiled->misjudged = compiled->unchanged = compiled->met = 0;
	compiled->opaque = false;
	compiled->failure_count = compiled->failed = compiled->refused = 0;
}

/* Runs without a known form: the driver fills the live cache itself, one worker at a time (several
 * could wipe it), and new entries are counted. */
static int run_opaque(struct jw_error *err, struct run_setup *setup,
					  struct jw_prime_result *outcome)
{
	struct jw_prime_compiled *compiled = &outcome->compile;
	const char *cache = setup->system->cache.path;
	uint64_t before = run_folder_count_entries(cache), after;
	int result;

	setup->live = NULL;
	setup->workers = 1;
	reset_counts(compiled);
	result = run_plan(err, setup, outcome);
	after = run_folder_count_entries(cache);
	compiled->compiled = after > before ? (size_t)(after - before) : 0;
	compiled->opaque = true;
	return result;
}

/* Checks that the cache can be written before anything is compiled. A lock that is held at the
 * moment is not an obstacle. */
static int open_live(struct jw_error *err, const struct run_setup *setup,
					 struct cache_live **ret_live)
{
	const struct plan *plan = setup->plan;
	const char *user = cache_user_stamp(setup->system);
	/* It is unknown whose entries another machine's cache has, so it loses none. */
	struct cache_live_options how = {.limit_bytes = setup->system->cache.limit_bytes,
									 .when_full = user ? CACHE_FULL_EVICT : CACHE_FULL_REFUSE,
									 .stamp = user,
									 .lock_wait_ms = LOCK_WAIT_MS};
	struct jw_error why = {0};
	struct cache_live *live;

	if (cache_live_open(err, setup->system->cache.path, &how, &live))
		return -1;
	if (cache_repair(&why, live) && why.code != JW_ERR_BUSY) {
		(void)cache_live_close(NULL, live);
		return error_copy(err, &why);
	}
	/* Warm entries are not evicted for cold ones. */
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_WARM)
			cache_keep(live, plan->modules[i].key);
	*ret_live = live;
	return 0;
}

/* Finds entries that are gone again: drivers wipe and evict, people remove folders. Counts by
 * existing entries, because a module that is compiled again may result in the same bytes. */
static void note_lost(const struct run_setup *setup, struct jw_prime_result *outcome)
{
	const struct plan *plan = setup->plan;
	struct jw_prime_compiled *compiled = &outcome->compile;
	const size_t done = compiled->compiled + compiled->met - compiled->misjudged;
	size_t there = 0;

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		there += module->state == PLAN_COLD && module->key &&
				 cache_presence(setup->system->cache.path, module->key, &module->identity, NULL) ==
					 CACHE_PRESENT;
	}
	if (there >= done)
		return;
	compiled->lost = done - there;
	compiled->undone += compiled->lost;
	run_add_note(outcome,
				 "%s of this run are no longer in the cache: another program has evicted "
				 "or deleted them, or the folder was removed; run the same command again",
				 TEXT_COUNT(compiled->lost, "entry", "entries"));
}

/* Runs the plan for a driver with known names of entries: results are inserted under the cache's
 * lock. */
static int run_known(struct jw_error *err, struct run_setup *setup, struct jw_prime_result *outcome)
{
	struct jw_error why = {0};
	struct cache_live_counts counts;
	struct cache_live *live;
	int result;

	if (open_live(err, setup, &live))
		return -1;
	setup->live = live;
	result = run_plan(err, setup, outcome);
	cache_live_counts(live, &counts);
	outcome->compile.evicted = counts.evicted;
	outcome->evicted_in_use += counts.evicted_in_use;
	/* Rows that a driver's late write has undone hardly matter, since their files exist. */
	if (cache_live_close(&why, live) && !result && why.code != JW_ERR_BUSY)
		result = error_copy(err, &why);
	if (!result && !outcome->compile.opaque)
		note_lost(setup, outcome);
	return result;
}

/* Refuses a folder with other content, which was named by mistake. */
static int refuse_foreign(struct jw_error *err, const char *path)
{
	const struct jw_cache_options options = {.path = path};
	struct cache_view view;

	if (!os_exists(path))
		return 0;
	if (cache_view_open(err, &options, /* headers= */ false, &view))
		return -1;
	cache_view_free(&view);
	return 0;
}

/* Marks the modules that this driver has refused, and clears the marks of those that it has
 * compiled. */
static void change_marks(const struct jw_system *system, const struct plan *plan,
						 const bool *inserted, const unsigned *refused)
{
	uint64_t *modules = mem_array(plan->module_count, sizeof *modules);
	struct ledger_new_mark *marks = mem_array(plan->module_count, sizeof *marks);
	struct ledger_change change = {.marks = marks, .cleared = modules};

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (inserted[i])
			modules[change.cleared_count++] = ledger_module(module);
		if (refused[i] && module->key)
			marks[change.mark_count++] =
				(struct ledger_new_mark){.module = ledger_module(module), .result = refused[i]};
	}
	if (change.cleared_count || change.mark_count)
		(void)ledger_change_marks(NULL, ledger_home(system), plan->cache_dir, &change);
	mem_free(marks);
	mem_free(modules);
}

/* Asks the driver again, after a prediction has failed, with a module of jitwarm's own: an account
 * can change its library while it is primed, and would else choose that the driver works in the
 * live cache. *ret_known: the driver's names of entries are those of the plan. If they are not, the
 * next run knows it. */
static int ask_form(struct jw_error *err, const struct jw_system *system, bool *ret_known)
{
	struct cache_profile profile;

	if (cache_profile_find(err, NULL, system->driver.library, NULL, &profile) ||
		driver_probe_confirm(err, system, &profile))
		return -1;
	*ret_known =
		profile.trust == JW_TRUST_CONFIRMED && !strcmp(profile.stamp, system->driver.stamp);
	return 0;
}

/* Runs by predicted names if the driver is known; otherwise, or if the driver has other names, by
 * counting. */
static int run_by_names_or_count(struct jw_error *why, struct run_setup *setup,
								 struct jw_prime_result *outcome)
{
	const struct jw_system *system = setup->system;
	const bool known = profile_is_known(system);
	int result = known ? run_known(why, setup, outcome) : 0;

	if (setup->options->compile.ptxas && !result && outcome->compile.opaque)
		result = error_set(why, JW_ERR_FORMAT, "ptxas's entry does not have the predicted name");
	if (!result && outcome->compile.opaque)
		result = ask_form(why, system, &setup->form_known);
	if (!result && setup->form_known) {
		reset_counts(&outcome->compile);
		result = run_known(why, setup, outcome);
	}
	if (!result && (!known || outcome->compile.opaque))
		result = run_opaque(why, setup, outcome);
	return result;
}

static int compile_plan(struct jw_error *err, const struct plan *plan,
						const struct jw_system *system, const struct jw_prime_options *options,
						struct jw_prime_result *outcome)
{
	struct speed_time learnt = {0};
	struct run_setup setup = {.plan = plan,
							  .system = system,
							  .options = options,
							  .workers = outcome->plan.forecast.workers,
							  .learnt = &learnt};
	const struct jw_driver compiler = planning_compiler(system, options);
	struct spool spool = {0};
	struct run_folder folder = {0};
	struct jw_error why = {0};
	char *task = NULL;
	int result = -1;

	setup.inserted = mem_array(plan->module_count, sizeof *setup.inserted);
	setup.refused = mem_array(plan->module_count, sizeof *setup.refused);
	if (run_folder_make(err, system->state_dir, &folder))
		goto done;
	if (spool_fill(&why, plan, folder.path, options->message, options->context, &options->cancel,
				   &spool)) {
		/* Cancelling before the run began is not a failure. */
		outcome->compile.interrupted = why.code == JW_ERR_INTERRUPTED;
		result = outcome->compile.interrupted ? 0 : error_copy(err, &why);
		goto done;
	}
	if (options->compile.ptxas &&
		task_write_ptxas(err, plan, options->compile.ptxas, folder.path, &task))
		goto done;
	setup.task = task;
	setup.worker = system->worker;
	setup.folder = folder.path;
	setup.spool = &spool;
	/* Reports results even after an error: they are in the cache. */
	if (run_by_names_or_count(&why, &setup, outcome))
		outcome->compile.stopped = why;
	result = 0;
	if (!outcome->compile.opaque)
		change_marks(system, plan, setup.inserted, setup.refused);
	/* A request that came after the last module has stopped nothing. */
	outcome->compile.interrupted = outcome->compile.interrupted && outcome->compile.undone;
	speed_remember(system->state_dir, &compiler, &learnt);
	/* These modules will still be cold for `check`, and this note says why. */
	if (outcome->compile.misjudged)
		run_add_note(
			outcome,
			"%s: the driver made other entries than predicted, which are in the cache, but "
			"“jitwarm check” still calls this cold",
			TEXT_COUNT(outcome->compile.misjudged, "module", "modules"));
	if (outcome->compile.unchanged)
		run_add_note(
			outcome,
			"%s: loaded by the driver, which kept nothing; “jitwarm check” still calls this cold",
			TEXT_COUNT(outcome->compile.unchanged, "module", "modules"));
done:
	mem_free(setup.inserted);
	mem_free(setup.refused);
	mem_free(task);
	spool_free(&spool);
	run_folder_remove(&folder);
	return result;
}

int compile_in_turn(struct jw_error *err, const struct plan *plan, const struct jw_system *system,
					const struct jw_prime_options *options, struct jw_prime_result *outcome)
{
	const struct cache_turn_wait wait = {options->context, options->message, options->cancel};
	struct cache_turn turn = {0};
	size_t met = 0; /* modules that the other run has compiled in between */
	int result = 0;

	if (refuse_foreign(err, system->cache.path))
		return -1;
	/* A cache directory that the superuser names, for another machine or in an image, is for other
	 * accounts. If it is missing, it is made, with missing levels above, so that they can read it
	 * and its entries. */
	if (system->cache.named && os_is_superuser() && !os_exists(system->cache.path) &&
		os_make_shared_dirs(err, system->cache.path, 0755))
		return -1;
	if (cache_turn_take(err, system->cache.path, &wait, &turn)) {
		outcome->compile.interrupted = true;
		return cancel_asked(&options->cancel) ? 0 : -1;
	}
	for (size_t i = 0; turn.waited && i < plan->module_count; i++)
		met += plan->modules[i].state == PLAN_COLD &&
			   plan_is_compiled(system->cache.path, &plan->modules[i]);
	if (turn.waited && met == outcome->plan.cold) {
		outcome->compile.met = outcome->plan.cold;
		outcome->compile.undone = 0;
	} else {
		result = compile_plan(err, plan, system, options, outcome);
	}
	cache_turn_end(&turn);
	return result;
}
