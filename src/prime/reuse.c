#include "prime/reuse.h"

#include <string.h>

#include "base/mem.h"
#include "cache/mend.h"
#include "os/env.h"

/* Names of entries that the cache lacks, and the lengths of their keys. */
struct wanted {
	uint64_t *keys, *key_bytes, *warm;
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
static int list_wanted(struct jw_error *err, const struct plan *plan, uint64_t budget_bytes,
					   struct wanted *wanted)
{
	uint64_t left = budget_bytes ? budget_bytes : UINT64_MAX;

	wanted->keys = mem_array(err, plan->module_count, sizeof *wanted->keys);
	wanted->key_bytes = mem_array(err, plan->module_count, sizeof *wanted->key_bytes);
	wanted->warm = mem_array(err, plan->module_count, sizeof *wanted->warm);
	if (!wanted->keys || !wanted->key_bytes || !wanted->warm)
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
		wanted->key_bytes[wanted->count] = module->key_bytes;
		wanted->keys[wanted->count++] = module->key;
		left -= module->entry_bytes;
	}
	return 0;
}

static void reuse_store(const struct jw_system *system, const struct jw_prime_options *options,
						const struct wanted *wanted, struct jw_prime_reuse *reuse)
{
	const struct jw_store_refill_options how = {.size = sizeof how,
												.system = system,
												.keys = wanted->keys,
												.count = wanted->count,
												.dry_run = options->dry_run,
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
		.size = sizeof how,
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
	struct cache_removal *removals = mem_array(NULL, plan->module_count, sizeof *removals);
	struct cache_live *live = NULL;
	size_t count = 0;

	for (size_t i = 0; removals && i < plan->module_count; i++)
		if (plan->modules[i].damage &&
			mend_judge(NULL, plan->cache_dir, sound_driver_of(&system->driver),
					   plan->modules[i].key, &removals[count]) == MEND_TAKE)
			count++;
	if (count && !cache_live_open(NULL, plan->cache_dir, &how, &live)) {
		(void)cache_remove(NULL, live, removals, count);
		(void)cache_live_close(NULL, live);
	}
	mem_free(removals);
}

static void wanted_free(struct wanted *wanted)
{
	mem_free(wanted->keys);
	mem_free(wanted->key_bytes);
	mem_free(wanted->warm);
}

int reuse_store_results(struct jw_error *err, const struct jw_system *system,
						const struct jw_prime_options *options, struct plan *plan,
						struct jw_prime_reuse *reuse)
{
	struct wanted wanted = {0};
	int result;

	if (!options->dry_run && !system->cache.why_useless[0])
		remove_damaged(system, plan);
	result = list_wanted(err, plan, options->budget_bytes, &wanted);
	reuse->store = uses_store(system, options);
	if (!result && wanted.count && reuse->store) {
		reuse_store(system, options, &wanted, reuse);
		plan_look_again(plan);
	}
	wanted_free(&wanted);
	return result;
}

int reuse_carry_over(struct jw_error *err, const struct jw_system *system,
					 const struct jw_prime_options *options, struct plan *plan,
					 struct jw_prime_reuse *reuse)
{
	struct wanted wanted = {0};
	int result = list_wanted(err, plan, 0, &wanted);

	if (!result && wanted.count) {
		carry_over(system, options, &wanted, reuse);
		plan_look_again(plan);
	}
	wanted_free(&wanted);
	return result;
}

void reuse_keep(const struct jw_system *system, const struct jw_prime_options *options,
				struct jw_prime_reuse *reuse)
{
	const struct jw_store_keep_options how = {
		.size = sizeof how, .system = system, .cancel = options->cancel};
	const struct jw_prime_progress progress = {.phase = JW_PRIME_KEEPING, .current = ""};

	if (!reuse->store)
		return;
	if (options->progress)
		options->progress(options->context, &progress);
	(void)jw_store_keep(&reuse->not_kept, &how, &reuse->kept);
}
