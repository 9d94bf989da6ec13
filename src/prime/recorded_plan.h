/* Narrows a plan to a recording's modules. */
#pragma once

#include <jitwarm/recording.h>

#include "plan/plan.h"

struct recorded_account {
	size_t wanted;           /* distinct modules of the recording that come from files */
	size_t missing;          /* those that are not in these files */
	size_t unfiled;          /* its other modules, which the program makes while it runs */
	size_t unfiled_cold;     /* of these, those that the cache does not have */
	size_t idle;             /* those in these files with nothing to compile on these GPUs */
	size_t *missing_by_file; /* for each of the recording's files; mem_free */
};

/* Leaves in `plan` the modules of the containers that the recording names. They are found by the
 * names of their entries on the recorded machine, computed for the request's files; so that machine
 * may have had another driver and other GPUs. */
int recorded_narrow(struct jw_error *err, const struct jw_recording *recording,
					const struct plan_request *request, struct plan *plan,
					struct recorded_account *ret_account);
