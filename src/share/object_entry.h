/* One entry in a shared place: a signed pack of its own, and a claim while somebody compiles it.
 * docs/share.md has the layout. */
#pragma once

#include <jitwarm/pack.h>

#include "pack/minisign.h"
#include "share/object_place.h"
#include "worker/object_protocol.h"

/* What all threads of the worker share, and do not change. */
struct object_context {
	const struct object_setup *setup;
	struct minisign_secret secret; /* where what is put is signed */
};

/* What one of them has. */
struct object_thread {
	const struct object_context *context;
	struct object_place *place;
	_Atomic bool *computing; /* meanwhile nothing is heard of the place */
};

/* BASE/v1/STAMP/SM/2/14, without an extension. The caller frees it. */
char *object_name(struct jw_error *err, const char *stamp, uint16_t sm, uint64_t key);
/* A claim, which is a JSON object; false for any other text. */
bool object_claim_read(const char *text, size_t size, uint64_t *ret_claim, uint64_t *ret_seconds);

/* What kind of failure an answer says. */
void object_say_failure(const struct object_thread *thread, const struct jw_error *why,
						struct object_answer *answer);
/* Signs the pack that was made so as the object `name`, into the file `signature`. */
int object_sign(struct jw_error *err, const struct object_context *context, const char *name,
				const struct jw_export_options *how, const struct jw_export_result *made,
				const char *signature);

/* Does the job. OBJECT_LATER, OBJECT_FAILED and OBJECT_GONE are failures of the place. */
void object_do(const struct object_thread *thread, const struct object_job *job,
			   struct object_answer *ret_answer);
