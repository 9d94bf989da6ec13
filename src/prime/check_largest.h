/* The largest modules of `check`. */
#pragma once

#include <jitwarm/check.h>

#include "plan/plan.h"

/* Fills in `largest`. -1: out of memory; the caller frees the result in any case. */
int check_largest(struct jw_error *err, const struct plan *plan, struct jw_check_result *result);
void check_largest_free(struct jw_check_result *result);
