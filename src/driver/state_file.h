/* state.json in the state directory: what jitwarm remembers about this machine, with a member for
 * each subject. Each member is an object with its own schema, so a version that does not know a
 * member ignores only that one. The file is read as hostile input; a damaged one counts as empty,
 * and the next writer replaces it. Readers take no lock. A writer locks state-lock, reads the file,
 * and replaces it with its member changed, so two writers lose nothing of each other. */
#pragma once

#include "base/error.h"
#include "base/json.h"

/* The members: the GPUs that a worker reported last (known_gpus.c); how fast this machine compiles
 * (speed_model.c); and, with a digest after it, what --if-changed compares (prime/last_run.c). */
#define STATE_DEVICES  "devices"
#define STATE_SPEED    "speed"
#define STATE_LAST_RUN "last-run-"

/* Reads a member; NULL if there is none, or if `state_dir` is NULL. cJSON_Delete frees it. */
cJSON *state_read(const char *state_dir, const char *name);
/* Replaces the member by `value`, which is freed in any case; NULL removes the member. Does nothing
 * if `state_dir` is NULL. The 64 newest of the last runs are kept. */
int state_write(struct jw_error *err, const char *state_dir, const char *name, cJSON *value);

/* Fails if the state directory, which may be missing, or a lock in it cannot be written to. */
int state_may_write(struct jw_error *err, const char *state_dir);

/* Parses the text of such a file; NULL if it is not sound. Also for tests and the fuzz target. */
cJSON *state_parse(const char *text, size_t size);
