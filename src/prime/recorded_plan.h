/* Narrowing a plan to what a recording names. */
#pragma once

#include <jitwarm/recording.h>

#include "plan/plan.h"

struct recorded_account {
	size_t wanted;           /* distinct modules of the recording that come from files */
	size_t missing;          /* of them, those that are not in these files */
	size_t idle;             /* that are, and for which there is nothing to compile on these GPUs */
	size_t *missing_by_file; /* for each of the recording's files; mem_free */
};

/* Leaves in `plan` the modules of those containers that the recording names. They are found by the
 * names that their entries had on the machine that was recorded, which are computed for the
 * request's files; so it may have had another driver and other GPUs. */
int recorded_narrow(struct jw_error *err, const struct jw_recording *recording,
					const struct plan_request *request, struct plan *plan,
					struct recorded_account *ret_account);
