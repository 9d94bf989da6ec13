#include "cli/prime_decisions.h"

enum plan_sentence plan_decide(const struct plan_facts *facts)
{
	if (!facts->modules) {
		if (facts->missing || facts->unfiled)
			return facts->troubles ? PLAN_SILENT : PLAN_IN_CACHE;
		if (facts->unjudged)
			return PLAN_NOT_JUDGED;
		return facts->hopeless ? PLAN_CANNOT_RUN : PLAN_NO_MODULES;
	}
	if (facts->cold)
		return PLAN_COLD;
	if (facts->over_budget)
		return PLAN_OVER_BUDGET;
	return facts->all_warm ? PLAN_WARM : PLAN_NOTHING_LEFT;
}

enum compiled_sentence compiled_decide(const struct compiled_facts *facts)
{
	if (facts->opaque)
		return COMPILED_OPAQUE;
	if (!facts->compiled)
		return facts->met && !facts->undone && !facts->failed ? COMPILED_ELSEWHERE
															  : COMPILED_NOTHING;
	if (facts->packed)
		return COMPILED_PACKED;
	return facts->all_cold && !facts->stopped ? COMPILED_ALL : COMPILED_SOME;
}

enum left_sentence left_decide(const struct left_facts *facts)
{
	if (facts->interrupted)
		return facts->scratch ? LEFT_INTERRUPTED : LEFT_INTERRUPTED_REST;
	if (facts->stopped || facts->only_plan)
		return LEFT_NOTHING;
	if (facts->out_of_time)
		return facts->size_given ? LEFT_TIME_UP_SIZE : LEFT_TIME_UP;
	if (facts->over_budget)
		return facts->size_given ? LEFT_OVER_SIZE : LEFT_OVER_BUDGET;
	return LEFT_NOTHING;
}

enum prime_next next_decide(const struct next_facts *facts)
{
	if (facts->failed || facts->undone)
		return NEXT_NONE;
	if (facts->elsewhere)
		return facts->compiled && !facts->scratch ? NEXT_FILLED : NEXT_NONE;
	return (facts->compiled || facts->fetched) && !facts->opaque ? NEXT_START : NEXT_NONE;
}

enum start_sentence start_decide(const struct start_facts *facts)
{
	if (facts->recorded)
		return START_RECORDED;
	if (facts->hopeless)
		return START_HOPELESS;
	if (facts->unjudged)
		return START_UNJUDGED;
	if (facts->gpus)
		return START_GPUS;
	if (facts->left_out)
		return START_LEFT_OUT;
	return facts->packages ? START_PACKAGES : START_ALL;
}

enum exit_status status_decide(const struct status_facts *facts)
{
	enum exit_status status = EXIT_DONE;

	/* Modules that are `unchanged` or `misjudged` have no entry with the predicted name, so nothing
	 * shows that they are warm. */
	if (facts->interrupted || facts->undone || facts->failed || facts->unchanged ||
		facts->misjudged || facts->over_budget || facts->evicted_in_use)
		status = exit_combine(status, EXIT_COLD);
	if (facts->hopeless || facts->refused || facts->unjudged)
		status = exit_combine(status, EXIT_CANNOT);
	return status;
}
