#include "prime/start_verdict.h"

const char *jw_verdict_name(enum jw_verdict verdict)
{
	switch (verdict) {
	case JW_VERDICT_UNREAD: return "unread";
	case JW_VERDICT_NOTHING: return "nothing";
	case JW_VERDICT_USELESS: return "useless";
	case JW_VERDICT_UNKNOWN: return "unknown";
	case JW_VERDICT_NO_ROOM: return "no-room";
	case JW_VERDICT_COLD: return "cold";
	case JW_VERDICT_PARTLY: return "partly";
	case JW_VERDICT_FAILS: return "fails";
	case JW_VERDICT_UNSURE: return "unsure";
	case JW_VERDICT_WARM: return "warm";
	case JW_VERDICT_RUNS: return "runs";
	}
	return "";
}

const char *jw_runs_name(enum jw_runs runs)
{
	static const char *const names[] = {[JW_RUNS_FAILS] = "fails",
										[JW_RUNS_UNSURE] = "unsure",
										[JW_RUNS_COMPILED] = "compiles",
										[JW_RUNS_AS_IS] = "runs",
										[JW_RUNS_ON_CPU] = "no-code"};

	return names[runs];
}

enum jw_verdict verdict_of(const struct plan *plan, const struct jw_found *found,
						   const struct jw_cache_info *settings, bool here,
						   const struct jw_cache_outlook *cache)
{
	size_t warm = 0, cold = 0;
	uint64_t bytes = 0, more_bytes = 0;

	for (size_t i = 0; i < plan->module_count; i++) {
		const struct plan_module *module = &plan->modules[i];

		if (plan->fates.hopeless_count &&
			fates_hopeless(&plan->fates, plan->files[module->file].path,
						   plan->files[module->file].package, module->target))
			continue;
		warm += module->state == PLAN_WARM;
		cold += module->state == PLAN_COLD;
		more_bytes += module->state == PLAN_COLD ? module->entry_bytes : 0;
		if (module->state != PLAN_LEFT_OUT && module->state != PLAN_REFUSED)
			bytes += module->entry_bytes;
	}
	/* A whole environment without device code may be the wrong one; a name was chosen
	 * deliberately. */
	if (!plan->images && (plan->troubles || found->whole || !found->file_count))
		return plan->troubles ? JW_VERDICT_UNREAD : JW_VERDICT_NOTHING;
	/* Modules that are left out are loaded on demand, and compiled then. With forced PTX, the
	 * driver also compiles code that runs as it is. */
	if (here && settings->why_useless[0] && (cold || !settings->reads) &&
		(plan->module_count || (settings->force_ptx_jit && plan->images)))
		return JW_VERDICT_USELESS;
	if (!plan->profile.stamp[0] && cold)
		return JW_VERDICT_UNKNOWN;
	if (here && cold && (bytes > settings->limit_bytes || more_bytes > settings->free_bytes))
		return JW_VERDICT_NO_ROOM;
	if (cold || (warm && cache->harmful))
		return JW_VERDICT_COLD;
	if (plan->troubles)
		return JW_VERDICT_PARTLY;
	if (plan->fates.count)
		return JW_VERDICT_FAILS;
	for (size_t t = 0; t < plan->target_count; t++)
		if (plan->targets[t].unplanned.tile || plan->targets[t].unplanned.unknown)
			return JW_VERDICT_UNSURE;
	return warm ? JW_VERDICT_WARM : JW_VERDICT_RUNS;
}
