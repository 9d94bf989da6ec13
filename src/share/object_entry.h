/* A shared place of objects: names below a directory, or below an address. Used by one thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/pack.h>
#include <jitwarm/share.h>

#include "base/cancel.h"
#include "base/error.h"
#include "driver/protocol.h"
#include "pack/minisign.h"

/* A directory or a server; each begins with this. */
struct object_place {
	/* The object `name` into the file `path`. JW_ERR_NOT_FOUND: there is none; JW_ERR_LIMIT,
	 * JW_ERR_FORMAT: there is one that cannot be taken; other failures are of the place:
	 * JW_ERR_BUSY may pass. */
	int (*get)(struct jw_error *err, struct object_place *place, const char *name,
			   uint64_t most_bytes, const char *path);
	/* The file `path` as the object `name`: whoever reads it sees all of it or what was there
	 * before */
	int (*put)(struct jw_error *err, struct object_place *place, const char *name,
			   const char *path);
	/* An object that is of no use any more is removed; NULL: that costs something. */
	void (*forget)(struct object_place *place, const char *name);
	void (*close)(struct object_place *place);
	/* After JW_ERR_BUSY: for how many seconds the place asks to be left alone (0: it does not
	 * say), -1 if it has not answered. */
	int64_t later_s;
};

/* `options` and `moved` must outlive it; `moved` counts bytes, for all threads. NULL and err set */
struct object_place *object_place_open(struct jw_error *err, const struct jw_share_options *options,
									   _Atomic uint64_t *moved);
/* The kinds. */
struct object_place *object_directory_open(struct jw_error *err, const char *folder);
struct object_place *object_web_open(struct jw_error *err, const struct jw_share_options *options,
									 _Atomic uint64_t *moved);

/* One entry in a shared place: a signed pack of its own, and a claim while somebody compiles it.
 * docs/share.md has the layout. */

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
char *object_name(const char *stamp, uint16_t sm, uint64_t key);
/* A claim, which is a JSON object; false for any other text. */
bool object_claim_read(const char *text, size_t size, uint64_t *ret_claim);

/* What kind of failure an answer says. */
void object_say_failure(const struct object_thread *thread, const struct jw_error *why,
						struct object_answer *answer);

/* Does the job. OBJECT_LATER, OBJECT_FAILED and OBJECT_GONE are failures of the place. */
void object_do(const struct object_thread *thread, const struct object_job *job,
			   struct object_answer *ret_answer);
