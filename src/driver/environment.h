/* The command that starts a worker, and a system's driver profile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/system.h>

#include "base/error.h"
#include "cache/profile.h"

/* JW_ERR_USAGE if no command is given, and in a worker, which must not start workers: otherwise a
 * program would start itself endlessly. */
int worker_command_check(struct jw_error *err, const char *const *command);

struct cache_profile profile_of_system(const struct jw_system *system);
/* Returns whether entries' names can be predicted. */
bool profile_is_known(const struct jw_system *system);

/* ---- the environments of child processes */

/* Set in every worker's environment. */
#define WORKER_MARKER "JITWARM_WORKER"

struct environment_variable {
	const char *name, *value; /* a NULL value removes the variable */
};

/* Returns our environment with these variables changed: "NAME=VALUE" strings and a NULL. Free it
 * with environment_free. NULL with err on failure. */
char **environment_with(struct jw_error *err, const struct environment_variable *variables,
						size_t variable_count);
/* Returns the environment of a compiler, a program: of ours, only listed variables (environment.c),
 * and `folder` for its temporary files. ptxas -c makes files with foreseeable names there, and
 * writes through symlinks (measured with 12.4). Freed with environment_free. */
char **environment_for_compiler(struct jw_error *err, const char *folder);
/* Returns a worker's environment: of ours, only listed variables (environment.c). `limit_bytes`
 * becomes CUDA_CACHE_MAXSIZE. If `cache_dir` is NULL, the cache's variables stay as programs have
 * them; `live_cache` is then their directory, if root's worker is confined to it, else NULL. `task`
 * is the file that names another compiler (driver/task.h), or NULL. With `background`,
 * environment_is_background returns true in the worker. */
char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes,
							  const char *live_cache, const char *task, bool background);
bool environment_is_background(void);
/* From now on a worker of the superuser writes files only in its cache, if that was named for it
 * (os_change_only), whatever a library makes NVIDIA's compiler do. Called when the driver has
 * opened the GPUs. */
void environment_confine(void);
void environment_free(char **environment);
