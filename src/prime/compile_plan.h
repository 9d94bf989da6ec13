/* The third step of a run: compiling the cold modules that the plan has left. */
#pragma once

#include <jitwarm/prime.h>

#include "plan/plan.h"

/* Compiles a plan's cold modules into the live cache. Runs on one cache wait for each other. Adds
 * the results to *outcome, also the reason for stopping early. -1 if the run could not begin. */
int compile_in_turn(struct jw_error *err, const struct plan *plan, const struct jw_system *system,
					const struct jw_prime_options *options, struct jw_prime_result *outcome);
