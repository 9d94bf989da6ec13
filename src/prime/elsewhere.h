/* Priming for another machine, by ptxas (docs/elsewhere.md). */
#ifndef JW_PRIME_ELSEWHERE_H
#define JW_PRIME_ELSEWHERE_H

#include "plan/plan.h"

/* What workers are told where it is not the driver that compiles: a task (prime/task.h) in
 * `folder`. The caller frees its path. */
int elsewhere_write_task(struct jw_error *err, const struct plan *plan, const char *ptxas,
						 const char *folder, char **ret_task);
/* What the superuser fills by name, for another machine or in an image, other accounts are to use:
 * a cache directory that is not there yet is made open to them, with the levels above it, and what
 * goes in follows it. */
int elsewhere_make_cache(struct jw_error *err, const char *cache_dir);

#endif
