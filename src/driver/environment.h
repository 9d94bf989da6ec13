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
/* In it, names the file of another compiler's task (driver/task.h). */
#define WORKER_TASK "JITWARM_WORKER_TASK"

/* Returns the environment of a compiler, a program: of ours, only listed variables
 * (os/child_variables.h), and `folder` for its temporary files. ptxas -c makes files with
 * foreseeable names there, and writes through symlinks (measured with 12.4). Freed with
 * child_variables_free. */
char **environment_for_compiler(struct jw_error *err, const char *folder);
/* Returns a worker's environment: of ours, only listed variables. `limit_bytes`
 * becomes CUDA_CACHE_MAXSIZE. If `cache_dir` is NULL, the cache's variables stay as programs have
 * them. `task` is the file that names another compiler (driver/task.h), or NULL. With `background`,
 * environment_is_background returns true in the worker. */
char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes,
							  const char *task, bool background);
bool environment_is_background(void);
