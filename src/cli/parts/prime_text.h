/* Prime's plan and its results, as text. */
#pragma once

#include <stdbool.h>

#include <jitwarm/prime.h>

#include "cli/output.h"

/* Before: the modules to compile, time and space, and the limit of the cache. */
void prime_print_plan(const struct output *out, const struct jw_prime_plan *plan);
/* After, where something was compiled. A completed plan is shown with its prediction. */
void prime_print_compiled(const struct output *out, const struct jw_prime_result *result);
/* After a run that a budget has cut short (`by_size`: one of size): how to go on. */
void prime_print_left(const struct output *out, const struct jw_prime_result *result, bool by_size);
