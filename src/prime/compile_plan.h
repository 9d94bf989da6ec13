/* Compiling what a plan has cold, into the live cache. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"
#include "run/trace.h"

/* One run after the other for each cache; what came of it is added to *result, also why it had to
 * stop. -1 where it could not be begun. `trace` may be NULL. */
int compile_plan(struct jw_error *err, const struct plan *plan, const struct jw_system *system,
				 const struct jw_prime_options *options, struct trace *trace,
				 struct jw_prime_result *result);
