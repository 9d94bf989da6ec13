#include "share/plan_tag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "machine/known_gpus.h"
#include "plan/analyse.h"
#include "plan/plan.h"
#include "worker/environment.h"

enum { NAME = 17 }; /* 16 hex digits and a line feed */

static int compare_keys(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

int share_plan_tag(struct jw_error *err, uint64_t *keys, size_t *count, char tag[JW_PLAN_TAG])
{
	char *names = mem_array(err, *count + 1, NAME + 1), hex[DIGEST_TEXT_SIZE];
	struct digest digest;
	size_t kept = 0;

	if (!names)
		return -1;
	qsort(keys, *count, sizeof *keys, compare_keys);
	for (size_t i = 0; i < *count; i++)
		if (!kept || keys[kept - 1] != keys[i])
			keys[kept++] = keys[i];
	*count = kept;
	for (size_t i = 0; i < kept; i++)
		(void)snprintf(names + i * NAME, NAME + 1, "%016llx\n", (unsigned long long)keys[i]);
	digest_of(&digest, names, kept * NAME);
	digest_text(hex, &digest);
	(void)snprintf(tag, JW_PLAN_TAG, "p-%.40s", hex);
	mem_free(names);
	return 0;
}

static int add_plan(struct jw_error *err, const struct plan *plan, size_t target,
					struct share_plans *plans)
{
	struct share_plan *item = &plans->items[plans->count];

	item->target = plan->targets[target].device;
	item->keys = mem_array(err, plan->module_count, sizeof *item->keys);
	if (!item->keys)
		return -1;
	plans->count++;
	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (module->target != target || !module->key)
			continue;
		item->keys[item->count++] = module->key;
		if (set_add(err, &plans->keys, module->key, i))
			return -1;
	}
	if (share_plan_tag(err, item->keys, &item->count, item->tag))
		return -1;
	if (!item->count) {
		mem_free(item->keys);
		plans->count--;
	}
	return 0;
}

static int split_plan(struct jw_error *err, const struct plan *plan, struct share_plans *plans)
{
	plans->items = mem_array(err, plan->target_count, sizeof *plans->items);
	if (!plans->items)
		return -1;
	for (size_t i = 0; i < plan->target_count; i++)
		if (add_plan(err, plan, i, plans))
			return -1;
	return plans->count ? 0
						: error_set(err, JW_ERR_UNSUPPORTED,
									"the named files have no module that this driver would "
									"compile: nothing to share");
}

int share_plans_find(struct jw_error *err, const struct jw_system *system,
					 const struct jw_found *found, const struct jw_cancel *cancel,
					 struct share_plans *ret_plans)
{
	struct jw_target targets[ANALYSE_MOST_TARGETS];
	struct cache_profile profile;
	struct plan_request request = {.found = found,
								   .targets = targets,
								   .profile = &profile,
								   .state_dir = system->state_dir,
								   .everything = true,
								   .link_inputs = true,
								   .speed = {.factor = 1},
								   .cancel = *cancel};
	struct share_plans plans = {0};
	struct plan *plan = NULL;
	int result;

	if (!system->driver.stamp[0])
		return error_set(err, JW_ERR_USAGE,
						 "the names of this driver's entries are not known here: name a tag");
	profile = profile_of_system(system);
	request.target_count = wanted_targets(system, NULL, 0, targets, ANALYSE_MOST_TARGETS);
	if (!request.target_count)
		return error_set(err, JW_ERR_USAGE, "no GPU here: name a tag");
	result = plan_build(err, &request, &plan) || split_plan(err, plan, &plans) ? -1 : 0;
	plan_free(plan);
	if (result)
		share_plans_free(&plans);
	else
		*ret_plans = plans;
	return result;
}

void share_plans_free(struct share_plans *plans)
{
	for (size_t i = 0; plans->items && i < plans->count; i++)
		mem_free(plans->items[i].keys);
	mem_free(plans->items);
	set_free(&plans->keys);
	*plans = (struct share_plans){0};
}
