/* The names of the entries of files' modules. */
#include "pack/gather.h"

#include "base/mem.h"
#include "find/named_paths.h"
#include "machine/wanted_targets.h"
#include "plan/analyse.h"
#include "plan/plan.h"
#include "worker/worker_command.h"

int wanted_of_paths(struct jw_error *err, const struct jw_export_options *options,
					struct set *ret_keys)
{
	struct jw_target targets[ANALYSE_MOST_TARGETS];
	struct cache_profile profile;
	struct plan_request request = {
		.targets = targets,
		.profile = &profile,
		.everything = true,
		.link_inputs = true,
		.factors = {1, 1, 0},
		.cancel = options->cancel,
	};
	struct jw_found *found = NULL;
	struct plan *plan = NULL;
	struct set keys = {0};
	int result;

	if (!options->system || !options->system->driver.stamp[0])
		return error_set(err, JW_ERR_USAGE,
						 "a package's entries are unknown here, since the driver is; run this on a "
						 "machine with a driver");
	profile = profile_of_system(options->system);
	request.state_dir = options->system->state_dir;
	request.target_count = wanted_targets(options->system, options->targets, options->target_count,
										  targets, ANALYSE_MOST_TARGETS);
	if (!request.target_count)
		return error_set(err, JW_ERR_USAGE, "no GPU here: name one with --arch");
	result =
		options->found ? 0 : named_paths_find(err, options->paths, options->path_count, &found);
	request.found = options->found ? options->found : found;
	if (!result)
		result = plan_build(err, &request, &plan);
	if (!result && plan->lacked)
		result = error_set(err, JW_ERR_MEMORY, "out of memory");
	for (size_t i = 0; !result && i < plan->module_count; i++)
		if (plan->modules[i].key)
			result = set_add(err, &keys, plan->modules[i].key, i);
	plan_free(plan);
	jw_found_free(found);
	if (result)
		set_free(&keys);
	else
		*ret_keys = keys;
	return result;
}
