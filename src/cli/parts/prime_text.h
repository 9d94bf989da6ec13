/* Text output of prime: what it restored and reused, its plan and its results. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/command.h"

#define REUSE_OPTIONS                                                                              \
	CLI_FLAG("no-store",                                                                           \
			 "Do not restore earlier results from the store, and do not add new ones"),            \
		CLI_FLAG("carry-over",                                                                     \
				 "After a driver update: reuse results of older drivers, from the cache and the "  \
				 "store, under this driver's names; only the rest is compiled"),                   \
		CLI_FLAG("recompile-carried",                                                              \
				 "Compile modules carried over from older drivers, and replace those results")

/* Before compiling: entries from the store and from former drivers. */
void prime_print_reuse(const struct output *out, const struct jw_prime_reuse *reuse, bool dry_run);
/* Before compiling: the modules to compile, time and space, and the limit of the cache. */
/* `only`: of the modules that --only names. */
void prime_print_plan(const struct output *out, const struct jw_prime_result *result, bool only);
/* After compiling. A completed plan is shown beside its prediction. */
void prime_print_compiled(const struct output *out, const struct jw_prime_result *result);
/* After a run that a budget has cut short (`by_size`: the size budget): how to continue. */
void prime_print_left(const struct output *out, const struct jw_prime_result *result, bool by_size);
