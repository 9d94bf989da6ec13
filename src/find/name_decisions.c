#include "find/name_decisions.h"

enum absent_name absent_decide(const struct absent_facts *facts)
{
	if (!facts->environment)
		return ABSENT_NO_ENVIRONMENT;
	if (facts->near)
		return ABSENT_NEAR;
	if (facts->project)
		return ABSENT_PROJECT;
	if (facts->others)
		return ABSENT_OTHERS;
	/* Most people who see this have forgotten to activate the environment that has the package. */
	return facts->asks_index && facts->installation ? ABSENT_NOT_ACTIVE : ABSENT;
}

enum no_code no_code_decide(const struct no_code_facts *facts)
{
	if (facts->unread || facts->code || (facts->source && facts->sources))
		return NO_CODE_IS_CODE;
	if (facts->empty)
		return NO_CODE_EMPTY;
	if (facts->pack)
		return NO_CODE_PACK;
	if (facts->source)
		return NO_CODE_SOURCE;
	if (facts->compressed)
		return NO_CODE_COMPRESSED;
	if (!facts->text)
		return NO_CODE_OTHER;
	if (facts->packages)
		return NO_CODE_PACKAGES;
	if (facts->project)
		return NO_CODE_PROJECT;
	return facts->python ? NO_CODE_PYTHON : NO_CODE_TEXT;
}
