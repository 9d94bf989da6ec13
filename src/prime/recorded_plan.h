/* Plans a recording's modules. */
#pragma once

#include <jitwarm/recording.h>

#include "base/buf.h"
#include "plan/plan.h"
#include "prime/start_verdict.h"

struct recorded_account {
	size_t wanted;  /* distinct modules of the recording that come from files */
	size_t missing; /* those that are not in these files */
	size_t texts;   /* those whose PTX it holds */
	size_t unfiled; /* its other modules, which the program makes while it runs */
	size_t unread;  /* troubles of the plan before these were looked for */
};

/* The recording's texts, one after the other. */
struct recorded_keys {
	const struct jw_recording *recording;
	size_t next; /* of its modules */
	struct buf text;
};

/* Before plan_build: has the request ask for all that a recording may name, and for its texts, by
 * `keys`, which lives as long. */
void recorded_request(const struct jw_recording *recording, struct recorded_keys *keys,
					  struct plan_request *request);
void recorded_keys_free(struct recorded_keys *keys);
/* After it: leaves in `plan` the modules of texts, and those of the containers that the recording
 * names. They are found by the names of their entries on the recorded machine, computed for the
 * request's files; so that machine may have had another driver and other GPUs. The plan's notes say
 * what cannot be compiled here. */
int recorded_narrow(struct jw_error *err, const struct jw_recording *recording,
					const struct plan_request *request, struct plan *plan,
					struct recorded_account *ret_account);
/* The verdict on it. No file does not mean nothing: the recording has modules of none. */
enum jw_verdict recorded_verdict(const struct plan *plan, const struct recorded_account *account,
								 enum jw_verdict verdict);
