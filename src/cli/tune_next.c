#include "cli/tune_next.h"

enum tune_next tune_decide(const struct tune_facts *facts)
{
	if (facts->switched_off)
		return facts->gpus ? TUNE_UNSET_THEN_PRIME : TUNE_UNSET;
	/* The folder is in force, and a warning is about it. */
	if (!facts->path_advised || !facts->path_usable ||
		(facts->in_force && !facts->path_named && facts->warnings))
		return facts->can_apply ? TUNE_NAME_FOLDER : TUNE_NAME_FOLDER_THERE;
	if (facts->overridden)
		return TUNE_OVERRIDDEN;
	if (facts->pending)
		return TUNE_LOG_IN;
	if (!facts->in_force)
		return TUNE_APPLY;
	return facts->ahead ? TUNE_LOG_IN_ALL : TUNE_NO_CHANGE;
}
