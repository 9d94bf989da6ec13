/* The environments of child processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Set in every worker's environment. */
#define WORKER_MARKER "JITWARM_WORKER"

struct environment_variable {
	const char *name, *value; /* NULL: removes the variable */
};

/* Our environment with these variables changed: "NAME=VALUE" strings and a NULL. Free it with
 * environment_free. NULL and err set on failure. */
char **environment_with(struct jw_error *err, const struct environment_variable *variables,
						size_t variable_count);
/* Our environment with the driver's variables as a worker needs them; `limit_bytes` becomes
 * CUDA_CACHE_MAXSIZE. `cache_dir` NULL: the driver's variables stay as programs have them. `task`:
 * the file that names another compiler (worker/task.h), NULL for the driver's own. A worker in the
 * `background` learns that from environment_is_background. */
char **environment_for_worker(struct jw_error *err, const char *cache_dir, uint64_t limit_bytes,
							  const char *task, bool background);
bool environment_is_background(void);
void environment_free(char **environment);
