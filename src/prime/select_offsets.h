/* Some of a plan's modules, chosen by where they lie. */
#pragma once

#include "plan/plan.h"

/* Drops all modules but those whose container begins at one of these offsets in its file or member.
 * JW_ERR_NOT_FOUND where there is none at one of them. */
int select_offsets(struct jw_error *err, struct plan *plan, const uint64_t *offsets, size_t count);
