/* What prime restored from the store and reused from former drivers, as text. */
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

/* Before anything is compiled. */
void prime_reuse_print(const struct output *out, const struct jw_prime_reuse *reuse, bool dry_run);
