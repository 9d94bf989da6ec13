/* The second step of a run: cold modules that become warm without being compiled. */
#include "prime/reuse.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/remove.h"
#include "pack/folder.h"

/* Modules whose entries the cache lacks, and the entries that must stay in it. */
struct wanted {
	uint64_t *keys, *key_bytes; /* names of the entries, and the lengths of their keys */
	struct jw_identity *identities;
	size_t *modules; /* indices into the plan */
	bool *found;     /* for dry_run */
	size_t count;
	uint64_t *warm; /* names of the plan's entries that the cache has */
	size_t warm_count;
};

/* Lists the wanted modules that fit into `budget_bytes` (0: no budget). The most expensive modules
 * come first in the plan. The caller frees the list with jw_result_free. */
static struct wanted *list_wanted(const struct plan *plan, uint64_t budget_bytes)
{
	const size_t most = plan->module_count;
	uint64_t left = budget_bytes ? budget_bytes : UINT64_MAX;
	struct wanted *wanted = arena_open(sizeof *wanted);

	wanted->keys = arena_array(wanted, most, sizeof *wanted->keys);
	wanted->key_bytes = arena_array(wanted, most, sizeof *wanted->key_bytes);
	wanted->identities = arena_array(wanted, most, sizeof *wanted->identities);
	wanted->warm = arena_array(wanted, most, sizeof *wanted->warm);
	wanted->modules = arena_array(wanted, most, sizeof *wanted->modules);
	wanted->found = arena_array(wanted, most, sizeof *wanted->found);
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
		wanted->identities[wanted->count] = module->identity;
		wanted->keys[wanted->count++] = module->key;
		left -= module->entry_bytes;
	}
	return wanted;
}

/* Marks the modules whose entries exist now as warm; in a dry run, those that were found as
 * restored. */
static void take_restored(struct plan *plan, const struct wanted *wanted)
{
	plan_probe_again(plan);
	for (size_t i = 0; i < wanted->count; i++) {
		struct plan_module *module = &plan->modules[wanted->modules[i]];

		if (wanted->found[i])
			module->state = PLAN_RESTORED;
		module->restored = module->state != PLAN_COLD;
	}
}

bool reuse_may_use_store(const struct jw_system *system)
{
	return system->state_dir && !system->scratch && !system->cache.named &&
		   !system->cache.why_useless[0];
}

static void refill(const struct jw_system *system, const struct jw_cancel *cancel, bool dry_run,
				   const struct wanted *wanted, struct jw_prime_reuse *reuse)
{
	const struct jw_store_refill_options how = {.system = system,
												.keys = wanted->keys,
												.identities = wanted->identities,
												.count = wanted->count,
												.dry_run = dry_run,
												.found = wanted->found,
												.cancel = *cancel};

	(void)jw_store_refill(&reuse->not_refilled, &how, &reuse->refilled);
}

void reuse_would_restore(const struct jw_system *system, struct plan *plan,
						 const struct jw_cancel *cancel)
{
	struct jw_prime_reuse reuse = {0};
	struct wanted *wanted;

	if (!reuse_may_use_store(system))
		return;
	wanted = list_wanted(plan, 0);
	if (wanted->count) {
		refill(system, cancel, true, wanted, &reuse);
		take_restored(plan, wanted);
	}
	jw_result_free(wanted);
}

/* Removes damaged entries that are still unchanged, so that others can take their names. If that
 * fails, they are replaced when their modules are compiled. */
static void remove_damaged(const struct jw_system *system, const struct plan *plan)
{
	const struct cache_live_options how = {.limit_bytes = system->cache.limit_bytes};
	struct cache_removal *removals = mem_array(plan->module_count, sizeof *removals);
	struct cache_live *live = NULL;
	size_t count = 0;

	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].damage &&
			repair_may_remove(plan->cache_dir, sound_driver_of(&system->driver),
							  plan->modules[i].key, &removals[count]))
			count++;
	if (count && !cache_live_open(NULL, plan->cache_dir, &how, &live)) {
		(void)cache_remove(NULL, live, removals, count);
		(void)cache_live_close(NULL, live);
	}
	mem_free(removals);
}

void reuse_store(const struct jw_system *system, const struct jw_prime_options *options,
				 struct plan *plan, struct jw_prime_result *outcome)
{
	struct jw_prime_reuse *reuse = &outcome->reuse;
	struct wanted *wanted = list_wanted(plan, options->plan.budget_bytes);

	if (!options->dry_run && !system->cache.why_useless[0])
		remove_damaged(system, plan);
	reuse->store = !options->reuse.no_store && reuse_may_use_store(system);
	if (wanted->count && reuse->store) {
		refill(system, &options->cancel, options->dry_run, wanted, reuse);
		take_restored(plan, wanted);
	}
	jw_result_free(wanted);
}

int reuse_folder(struct jw_error *err, const struct jw_system *system,
				 const struct jw_prime_options *options, const char *staged, struct plan *plan,
				 struct jw_prime_result *outcome)
{
	const struct jw_store_folder *folder = &options->reuse.folder;
	const struct folder_request request = {
		.folder = folder, .system = system, .cancel = options->cancel};
	struct jw_store_traffic *traffic = &outcome->reuse.folder;
	struct wanted *wanted = list_wanted(plan, options->plan.budget_bytes);
	struct jw_error why = {0};
	int result = 0;

	/* A typed folder that is missing is a mistake, even if nothing is wanted of it. */
	if (wanted->count || folder->required)
		result = folder_fetch(&why, &request, wanted->keys, wanted->key_bytes, wanted->count,
							  staged, traffic);
	if (!result && wanted->count) {
		const struct jw_store_refill_options how = {.system = system,
													.folder = staged,
													.shown = folder->path,
													.keys = wanted->keys,
													.identities = wanted->identities,
													.count = wanted->count,
													.dry_run = options->dry_run,
													.found = wanted->found,
													.cancel = options->cancel};

		(void)jw_store_refill(&why, &how, &outcome->reuse.from_folder);
		take_restored(plan, wanted);
	}
	jw_result_free(wanted);
	if (why.code == JW_ERR_NOT_FOUND && folder->required)
		return error_set(err, JW_ERR_NOT_FOUND, "%s: no such folder: create it first",
						 folder->path);
	if (why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	TEXT_COPY(traffic->trouble, why.message);
	return 0;
}

static void report_carried(void *context, size_t done, size_t total)
{
	const struct jw_prime_options *options = context;
	const struct jw_prime_progress progress = {
		.phase = JW_PRIME_CARRYING, .done = done, .total = total, .current = ""};

	options->progress(options->context, &progress);
}

void reuse_other_drivers(const struct jw_system *system, const struct jw_prime_options *options,
						 const char *staged, struct plan *plan, struct jw_prime_result *outcome)
{
	struct jw_prime_options reported = *options;
	struct jw_prime_reuse *reuse = &outcome->reuse;
	struct wanted *wanted = list_wanted(plan, 0);

	if (wanted->count) {
		const struct jw_carry_options how = {
			.system = system,
			.keys = wanted->keys,
			.key_bytes = wanted->key_bytes,
			.identities = wanted->identities,
			.count = wanted->count,
			.kept = wanted->warm,
			.kept_count = wanted->warm_count,
			/* Entries from packs are not counted against a budget. */
			.store = reuse->store && !options->plan.budget_bytes,
			.folder = options->plan.budget_bytes ? NULL : staged,
			.shown = options->reuse.folder.path,
			.dry_run = options->dry_run,
			.found = wanted->found,
			.most_bytes = options->plan.budget_bytes,
			.cancel = options->cancel,
			.context = &reported,
			.progress = options->progress ? report_carried : NULL,
		};

		(void)jw_carry(&reuse->not_carried, &how, &reuse->carried);
		take_restored(plan, wanted);
	}
	jw_result_free(wanted);
	if (reuse->carried) {
		arena_join(outcome, reuse->carried);
		outcome->evicted_in_use += reuse->carried->evicted_in_use;
	}
}
