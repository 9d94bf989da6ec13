/* What `check` says of each package of a search. */
#pragma once

#include <jitwarm/check.h>

#include "plan/plan.h"

/* Fills in `packages` of a result that has its GPUs and failing files; `found` is the search that
 * the plan was made of. -1: out of memory; the caller frees the result in any case. */
int check_packages(struct jw_error *err, const struct plan *plan, const struct jw_found *found,
				   struct jw_check_result *result);
void check_packages_free(struct jw_check_result *result);
