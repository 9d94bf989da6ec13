/* Compiles a plan's cold modules into the live cache. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"
#include "run/trace.h"

/* Runs on one cache wait for each other; adds the outcome to *result, also the reason for stopping
 * early. -1: the run could not be begun. `trace` may be NULL. */
int compile_plan(struct jw_error *err, const struct plan *plan, const struct jw_system *system,
				 const struct jw_prime_options *options, struct trace *trace,
				 struct jw_prime_result *result);
