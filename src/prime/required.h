/* Wheels fail on a GPU on which what they require fails: torch, or a library of NVIDIA's
 * (docs/internals/compat.md, sentences 9 and 10). What an installed package requires is installed
 * beside it, and is judged itself. */
#pragma once

#include "plan/plan.h"

struct required_wheels {
	void *owner; /* base/arena.h; NULL without a wheel */
	struct required_wheel *items;
	size_t count, capacity;
};

/* Notes what a wheel requires, if the file is one; `machine` is for those that fit any
 * (jw_platform). A wheel whose METADATA cannot be read requires nothing. */
void required_note(struct required_wheels *wheels, const char *path, const char *machine);
/* Adds the failing ones to the fates of a plan, which are settled. */
int required_judge(struct jw_error *err, struct required_wheels *wheels, struct plan *plan);
void required_free(struct required_wheels *wheels);
