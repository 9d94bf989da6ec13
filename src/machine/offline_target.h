/* Priming for another machine, by ptxas (docs/elsewhere.md). */
#pragma once

#include "plan/plan.h"

/* What workers are told where it is not the driver that compiles: a task (worker/task.h) in
 * `folder`. The caller frees its path. */
int offline_write_task(struct jw_error *err, const struct plan *plan, const char *ptxas,
					   const char *folder, char **ret_task);
/* What the superuser fills by name, for another machine or in an image, other accounts are to use:
 * a cache directory that is not there yet is made open to them, with the levels above it, and what
 * goes in follows it. */
int offline_make_cache(struct jw_error *err, const char *cache_dir);
