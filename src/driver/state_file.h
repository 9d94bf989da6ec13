/* state.json in the state directory: what jitwarm remembers of this machine, a member for each
 * subject. Each member is an object with a schema of its own, so a version that does not know one
 * ignores that one alone.
 *
 * The file is read as hostile input; a damaged one counts as empty, and the next writer replaces
 * it. Readers take no lock. A writer locks state-lock, reads the file, and replaces it with its
 * member changed, so two writers lose nothing of each other. */
#pragma once

#include "base/error.h"
#include "base/json.h"

/* The members: the GPUs that a worker reported last (known_gpus.c); how fast this machine compiles
 * (speed_model.c); what was prepared for the next driver (prime/ahead.c); and, with a digest behind
 * it, what --if-changed compares (prime/last_run.c). */
#define STATE_DEVICES  "devices"
#define STATE_SPEED    "speed"
#define STATE_AHEAD    "ahead"
#define STATE_LAST_RUN "last-run-"

/* The member; NULL if there is none, or `state_dir` is. cJSON_Delete frees it. */
cJSON *state_read(const char *state_dir, const char *name);
/* Replaces the member by `value`, which is freed in any case; NULL removes it. Does nothing if
 * `state_dir` is NULL. Of the last runs the 64 newest are kept. */
int state_write(struct jw_error *err, const char *state_dir, const char *name, cJSON *value);

/* Parses the text of such a file; anything but a sound one is NULL. For tests and the fuzz target,
 * too. */
cJSON *state_parse(const char *text, size_t size);

/* 0 unless this is the superuser, and another account could change what is kept at `path`: keys,
 * packs and settings decide what the superuser does. JW_ERR_IO with the reason. */
int state_check_writers(struct jw_error *err, const char *path);
