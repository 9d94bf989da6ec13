/* Makes a plan of the modules at paths. */
#pragma once

#include "check.h"

#include "find/named_paths.h"
#include "plan/plan.h"

/* `request` has everything but the files. */
static inline int plan_paths(struct jw_error *err, const struct plan_request *request,
							 const char *const *paths, size_t count, struct plan **ret_plan)
{
	struct plan_request whole = *request;
	struct jw_found *found;
	int result;

	if (named_paths_find(err, paths, count, false, (struct jw_cancel){0}, &found))
		return -1;
	whole.found = found;
	result = plan_build(err, &whole, ret_plan);
	jw_result_free(found);
	return result;
}
