/* Plans a recording's modules. */
#pragma once

#include <jitwarm/recording.h>

#include "base/buf.h"
#include "plan/plan.h"

struct recorded_account {
	size_t wanted;  /* distinct modules of the recording that come from files */
	size_t missing; /* those of them that are not in these files */
	size_t texts;   /* modules whose PTX is in the recording */
	size_t unfiled; /* its other modules, which the program makes while it runs */
	size_t unread;  /* the number of the plan's troubles before the modules were searched for */
};

/* The recording's texts, one after the other. */
struct recorded_keys {
	const struct jw_recording *recording;
	size_t next; /* the next of its modules */
	struct buf text;
};

/* Prepares the request before plan_build: for everything that a recording may name, and for its
 * texts, by `keys`, which must live as long. */
void recorded_request(const struct jw_recording *recording, struct recorded_keys *keys,
					  struct plan_request *request);
void recorded_keys_free(struct recorded_keys *keys);
/* Leaves in `plan`, after plan_build, the modules of texts, and those of the containers that the
 * recording names. They are found by the names of their entries on the recorded machine, computed
 * for the request's files; so that machine may have had another driver and other GPUs. The plan's
 * notes say which modules cannot be compiled here. */
int recorded_narrow(struct jw_error *err, const struct jw_recording *recording,
					const struct plan_request *request, struct plan *plan,
					struct recorded_account *ret_account);
/* Returns the verdict on the plan. A plan without files is not empty, because the recording may
 * have modules that are in no file. */
enum jw_verdict recorded_verdict(const struct plan *plan, const struct recorded_account *account,
								 enum jw_verdict verdict);
