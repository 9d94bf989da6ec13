#include "prime/registry_results.h"

#include "base/cancel.h"
#include "base/sized.h"

static bool has_cold(const struct plan *plan)
{
	for (size_t i = 0; i < plan->module_count; i++)
		if (plan->modules[i].state == PLAN_COLD && plan->modules[i].key)
			return true;
	return false;
}

int registry_results_pull(struct jw_error *err, const struct jw_system *system,
						  const struct jw_prime_options *options, const struct jw_found *found,
						  struct plan *plan, struct jw_prime_result *result)
{
	const struct jw_pull_options *given =
		options->from ? SIZED(err, options->from, struct jw_pull_options) : NULL;
	struct jw_import_options import = JW_IMPORT_OPTIONS_INIT;
	struct jw_pull_options how;

	if (options->from && !given)
		return -1;
	if (!given || options->dry_run || !has_cold(plan))
		return 0;
	if (given->how)
		import.allow_unsigned = given->how->allow_unsigned;
	import.system = system;
	import.state_dir = system->state_dir;
	import.cancel = options->cancel;
	/* What is there already may have been compiled here. */
	import.only_missing = true;
	how = *given;
	how.found = found;
	how.how = &import;
	how.cancel = options->cancel;
	if (jw_pull(&result->not_pulled, &how, &result->pulled))
		return result->not_pulled.code == JW_ERR_INTERRUPTED ||
					   result->not_pulled.code == JW_ERR_USAGE
				   ? error_copy(err, &result->not_pulled)
				   : 0;
	plan_look_again(plan);
	return 0;
}

void registry_results_push(const struct jw_system *system, const struct jw_prime_options *options,
						   const struct jw_found *found, struct jw_prime_result *result)
{
	const struct jw_push_options *given =
		options->back ? SIZED(&result->not_pushed, options->back, struct jw_push_options) : NULL;
	struct jw_push_options how;

	if (!given || options->dry_run || result->interrupted || cancel_asked(&options->cancel))
		return;
	/* All came from there. */
	if (result->pulled && !result->pulled->missed && !result->compiled)
		return;
	how = *given;
	how.system = system;
	how.found = found;
	how.cancel = options->cancel;
	(void)jw_push(&result->not_pushed, &how, &result->pushed);
}
