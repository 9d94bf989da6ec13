/* What prime says of its plan and of what came of it. */
#pragma once

#include <stdbool.h>

#include <jitwarm/prime.h>

#include "cli/output.h"

/* Before: what stands to be done, what it will take, and what the cache keeps. */
void prime_print_plan(const struct output *out, const struct jw_prime_plan *plan);
/* After, where something was compiled. Where all of the plan was done, what was predicted of it
 * stands beside what it took. */
void prime_print_compiled(const struct output *out, const struct jw_prime_result *result);
/* After a run that a budget has cut short (`by_size`: one of size): how to go on. */
void prime_print_left(const struct output *out, const struct jw_prime_result *result, bool by_size);
