#include <jitwarm/prime.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cache/insert.h"
#include "cache/profile.h"
#include "cache/view.h"
#include "os/file.h"
#include "os/system.h"
#include "plan/analyse.h"
#include "plan/plan.h"
#include "prime/folder.h"
#include "prime/probe.h"
#include "prime/result.h"
#include "prime/run.h"
#include "prime/self.h"
#include "prime/spool.h"

/* So long the event loop may wait for the cache's lock; drivers are as patient. */
enum { LOCK_WAIT_MS = 200 };

/* ---- the plan */

/* Each architecture once, however many GPUs share it. */
static size_t distinct_targets(const struct jw_system *system, struct jw_target *targets)
{
	size_t count = 0;

	for (size_t i = 0; i < system->gpu_count; i++) {
		size_t known = 0;

		while (known < count && !jw_target_equal(targets[known], system->gpus[i].target))
			known++;
		if (known == count)
			targets[count++] = system->gpus[i].target;
	}
	return count;
}

static int make_plan(struct jw_error *err, const struct jw_system *system,
					 const struct jw_prime_options *options, struct plan **ret_plan)
{
	struct cache_profile profile = profile_of_system(system);
	struct jw_target *targets = mem_array(err, system->gpu_count, sizeof *targets);
	struct plan_request request = {
		.paths = options->paths,
		.path_count = options->path_count,
		.targets = targets,
		.profile = &profile,
		.cache_dir = system->cache.path,
		.state_dir = system->state_dir,
		.everything = options->everything,
		.context = options->context,
		.stop = options->stop,
	};
	int result;

	if (!targets)
		return -1;
	request.target_count = distinct_targets(system, targets);
	result = plan_build(err, &request, ret_plan);
	mem_free(targets);
	return result;
}

/* A worker's own need beside that of its compile: the driver's context. Source: driver-cache.md,
 * "Values" (80 to 100 MiB more than ptxas). */
#define WORKER_BYTES (UINT64_C(128) << 20)

/* As many as find room in three quarters of the memory that is available, should the modules that
 * need most be compiled at the same time. */
static unsigned memory_allows(const struct plan *plan, unsigned wanted)
{
	uint64_t total, available, dearest = 0;

	if (!os_memory(&total, &available))
		return wanted;
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD && plan->modules[i].memory_bytes > dearest)
			dearest = plan->modules[i].memory_bytes;
	available = available / 4 * 3 / (dearest + WORKER_BYTES);
	return available < 1 ? 1 : available < wanted ? (unsigned)available : wanted;
}

static unsigned worker_count(const struct plan *plan, const struct jw_prime_options *options,
							 size_t cold)
{
	unsigned wanted = options->jobs ? options->jobs : memory_allows(plan, os_cores());

	return wanted > cold ? (unsigned)cold : wanted;
}

static void sum_up(const struct plan *plan, const struct jw_prime_options *options,
				   struct jw_prime_plan *ret_sum)
{
	struct jw_prime_plan sum = {0};
	bool useful[ANALYSE_MOST_TARGETS] = {false};

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		sum.left_out += module->state == PLAN_LEFT_OUT;
		sum.warm += module->state == PLAN_WARM;
		useful[module->target] = useful[module->target] || module->state != PLAN_LEFT_OUT;
		if (module->state != PLAN_COLD)
			continue;
		sum.cold++;
		sum.link += module->form == CACHE_KEY_LINK;
		sum.cold_bytes += module->payload_bytes;
		sum.cache_bytes += module->entry_bytes;
		sum.cpu_seconds += module->cost_ms / 1000;
		if (module->cost_ms / 1000 > sum.longest_seconds)
			sum.longest_seconds = module->cost_ms / 1000;
	}
	for (size_t i = 0; i < plan->target_count; i++) {
		sum.cannot += plan->targets[i].cannot;
		sum.hopeless += plan->targets[i].cannot && !useful[i];
	}
	sum.modules = sum.cold + sum.warm;
	sum.workers = worker_count(plan, options, sum.cold);
	*ret_sum = sum;
}

/* ---- the run */

/* A prediction has failed. Asking the driver once more tells a driver whose stamp or form has
 * changed, so that the next run knows; this one counts. */
static void look_again(const struct jw_system *system, const struct jw_prime_options *options)
{
	struct cache_profile profile;

	if (!cache_profile_find(NULL, NULL, system->driver.library, NULL, &profile))
		(void)probe_confirm(NULL, options->worker, system, &profile);
}

/* Without a known form the driver fills the live cache itself, one worker at a time (several could
 * wipe it), and what it added is counted. */
static int run_opaque(struct jw_error *err, struct run_setup *setup, struct jw_prime_result *result)
{
	uint64_t before = folder_count_entries(setup->system->cache.path), after;
	int failed;

	setup->live = NULL;
	setup->workers = 1;
	result->undone = result->compiled = result->misjudged = result->unchanged = result->met = 0;
	result_forget_failures(result);
	failed = run_plan(err, setup, result);
	after = folder_count_entries(setup->system->cache.path);
	result->compiled = after > before ? (size_t)(after - before) : 0;
	result->opaque = true;
	return failed;
}

/* What is warm already must not go to make room for what is cold. */
static int keep_warm(struct jw_error *err, const struct plan *plan, struct cache_live *live)
{
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_WARM && cache_keep(err, live, plan->modules[i].key))
			return -1;
	return 0;
}

/* Whether the cache can be written to at all turns out before anything is compiled. A lock that is
 * held just now is none of those reasons. */
static int open_live(struct jw_error *err, const struct run_setup *setup,
					 struct cache_live **ret_live)
{
	struct cache_live_options how = {.limit_bytes = setup->system->cache.limit_bytes,
									 .when_full = CACHE_FULL_EVICT,
									 .lock_wait_ms = LOCK_WAIT_MS};
	struct jw_error why = {0};
	struct cache_live *live;

	if (cache_live_open(err, setup->system->cache.path, &how, &live))
		return -1;
	if (cache_repair(&why, live) && why.code != JW_ERR_BUSY)
		error_set(err, why.code, "%s", why.message);
	else if (!keep_warm(err, setup->plan, live)) {
		*ret_live = live;
		return 0;
	}
	(void)cache_live_close(NULL, live);
	return -1;
}

static int run_known(struct jw_error *err, struct run_setup *setup, struct jw_prime_result *result)
{
	struct jw_error why = {0};
	struct cache_live_counts counts;
	struct cache_live *live;
	int failed;

	if (open_live(err, setup, &live)) {
		result->undone = result->plan.cold;
		return -1;
	}
	setup->live = live;
	failed = run_plan(err, setup, result);
	cache_live_counts(live, &counts);
	result->evicted = counts.evicted;
	/* Rows that a driver's late write has undone are of little matter: their files are there. */
	if (cache_live_close(&why, live) && !failed && why.code != JW_ERR_BUSY)
		failed = error_set(err, why.code, "%s", why.message);
	return failed;
}

/* A folder that holds something else is none that we fill: it was named by mistake. */
static int refuse_foreign(struct jw_error *err, const char *path)
{
	const struct jw_cache_options options = {.path = path};
	struct cache_index index;
	struct cache_scan scan;
	uint64_t limit_bytes;
	char *seen;

	if (!os_exists(path))
		return 0;
	if (cache_view_open(err, &options, &seen, &limit_bytes, &scan, &index))
		return -1;
	cache_scan_free(&scan);
	cache_index_free(&index);
	mem_free(seen);
	return 0;
}

/* What `check` will still call cold, and why. */
static int note_doubts(struct jw_error *err, struct jw_prime_result *result)
{
	char line[256];

	if (result->misjudged) {
		(void)snprintf(line, sizeof line,
					   "%zu modules: the driver made other entries than predicted; they are in the "
					   "cache, but “jitwarm check” goes on calling these modules cold",
					   result->misjudged);
		if (result_add_note(err, result, line))
			return -1;
	}
	if (result->unchanged) {
		(void)snprintf(line, sizeof line,
					   "%zu modules: the driver loaded them and kept nothing; “jitwarm check” goes "
					   "on calling them cold",
					   result->unchanged);
		if (result_add_note(err, result, line))
			return -1;
	}
	return 0;
}

static int compile_cold(struct jw_error *err, const struct plan *plan,
						const struct jw_system *system, const struct jw_prime_options *options,
						struct jw_prime_result *result)
{
	struct run_setup setup = {
		.plan = plan, .system = system, .options = options, .workers = result->plan.workers};
	struct spool spool = {0};
	struct self_command self = {0};
	struct folder folder = {0};
	struct jw_error why = {0};
	int failed = -1;

	if (refuse_foreign(err, system->cache.path) || folder_make(err, system->state_dir, &folder) ||
		self_command(err, options->worker, &self) ||
		spool_fill(err, plan, folder.path, options->message, options->context, &spool))
		goto done;
	setup.worker = self.command;
	setup.folder = folder.path;
	setup.spool = &spool;
	failed = 0;
	if (profile_is_known(system))
		failed = run_known(&why, &setup, result);
	if (profile_is_known(system) && !failed && result->opaque)
		look_again(system, options);
	if (!profile_is_known(system) || (!failed && result->opaque))
		failed = run_opaque(&why, &setup, result);
	/* What is done is done, and is told. */
	if (failed)
		result->stopped = why;
	failed = note_doubts(err, result);
done:
	spool_free(&spool);
	self_free(&self);
	folder_remove(&folder);
	return failed;
}

/* Where a warm cache is of no use. */
static int cannot_help(struct jw_error *err, const struct jw_system *system)
{
	const struct jw_cache_info *cache = &system->cache;
	bool by_setting = cache->disabled || cache->force_ptx_jit || !cache->path;

	if (cache->why_useless[0])
		return error_set(err, by_setting ? JW_ERR_UNSUPPORTED : JW_ERR_IO, "%s",
						 cache->why_useless);
	if (!cache->limit_bytes)
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"CUDA_CACHE_MAXSIZE makes the driver store nothing: unset it, or give it a "
			"number of bytes");
	return 0;
}

int jw_prime(struct jw_error *err, const struct jw_system *system,
			 const struct jw_prime_options *options, struct jw_prime_result **ret_result)
{
	struct jw_prime_result *result = mem_alloc(err, sizeof *result);
	struct plan *plan = NULL;
	int failed = -1;

	if (!result)
		return -1;
	if (!system->gpu_count) {
		error_set(err, JW_ERR_NOT_FOUND, "%s", system->why_none);
		goto done;
	}
	if (cannot_help(err, system))
		goto done;
	/* Also where everything is warm by now: a run may have been killed with its last module done.
	 */
	folder_sweep(system->state_dir);
	if (make_plan(err, system, options, &plan))
		goto done;
	for (size_t i = 0; i < plan->note_count; i++)
		if (result_add_note(err, result, plan->notes[i]))
			goto done;
	result->troubles = plan->troubles;
	sum_up(plan, options, &result->plan);
	failed = 0;
	if (options->planned && !options->planned(options->context, &result->plan))
		result->undone = result->plan.cold;
	else if (result->plan.cold)
		failed = compile_cold(err, plan, system, options, result);
done:
	plan_free(plan);
	if (failed)
		jw_prime_result_free(result);
	else
		*ret_result = result;
	return failed;
}
