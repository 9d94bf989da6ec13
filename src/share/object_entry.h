/* A shared folder of objects. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/pack.h>
#include <jitwarm/share.h>

#include "base/cancel.h"
#include "base/error.h"
#include "driver/protocol.h"
#include "pack/minisign.h"

/* The state of one thread's access. */
struct object_directory {
	const char *folder;
	unsigned unreadable; /* unreadable objects in a row */
};

/* Opens the folder; `folder` must outlive it. */
int object_directory_open(struct jw_error *err, const char *folder,
						  struct object_directory *ret_directory);
/* Copies the object `name` into the file `path`. JW_ERR_NOT_FOUND if it is missing; JW_ERR_LIMIT,
 * JW_ERR_FORMAT or JW_ERR_BUSY if it cannot be taken; JW_ERR_IO if the folder does not work. */
int object_directory_get(struct jw_error *err, struct object_directory *directory, const char *name,
						 uint64_t most_bytes, const char *path);
/* Copies the file `path` to the object `name`: a reader sees the whole new object, or the former
 * one. */
int object_directory_put(struct jw_error *err, const struct object_directory *directory,
						 const char *name, const char *path);
/* Removes an object; a failure is ignored. */
void object_directory_forget(const struct object_directory *directory, const char *name);

/* One entry in a shared folder: a signed pack of its own, and a claim while some node compiles it.
 * docs/internals/formats.md has the layout. */

/* The data that all threads of the worker share, and do not change. */
struct object_context {
	const struct object_setup *setup;
	struct minisign_secret secret; /* the key for entries that are put, if they are signed */
};

/* The data of one thread. */
struct object_thread {
	const struct object_context *context;
	struct object_directory directory;
};

/* Returns BASE/v1/STAMP/SM/2/14, without an extension. The caller frees it. */
char *object_name(const char *stamp, uint16_t sm, uint64_t key);
/* Reads a claim, which is a JSON object; false for any other text. */
bool object_claim_read(const char *text, size_t size, uint64_t *ret_claim);

/* Does a job. OBJECT_GONE is a failure of the folder. */
void object_do(struct object_thread *thread, const struct object_job *job,
			   struct object_answer *ret_answer);
