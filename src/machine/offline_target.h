/* Priming for another machine, by ptxas (docs/elsewhere.md). */
#pragma once

#include "plan/plan.h"

/* Writes a worker's task for ptxas (worker/task.h) into `folder`. The caller frees its path. */
int offline_write_task(struct jw_error *err, const struct plan *plan, const char *ptxas,
					   const char *folder, char **ret_task);
/* A cache directory that the superuser names, for another machine or in an image, is for other
 * accounts. Makes a missing one, and missing levels above, readable for them; the entries inherit
 * that. */
int offline_make_cache(struct jw_error *err, const char *cache_dir);
