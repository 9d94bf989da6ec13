/* Narrows a plan to modules at given offsets. */
#pragma once

#include "plan/plan.h"

/* Drops all modules except those whose container begins at one of these offsets in its file or
 * member. JW_ERR_NOT_FOUND: an offset has no module. */
int select_offsets(struct jw_error *err, struct plan *plan, const uint64_t *offsets, size_t count);
