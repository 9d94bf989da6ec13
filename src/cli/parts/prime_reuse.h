/* What prime took from the store and from former drivers, as it says it. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/command.h"

#define REUSE_OPTIONS                                                                              \
	CLI_FLAG("no-store", "Neither take from the store what was compiled before nor keep there "    \
						 "what is compiled now"),                                                  \
		CLI_FLAG("carry-over", "After an upgrade of the driver: take over what older drivers "     \
							   "have compiled, from the cache and the store, under this driver's " \
							   "names; it takes seconds. Only the rest is compiled"),              \
		CLI_FLAG("recompile-carried", "Compile what was carried over from older drivers, and put " \
									  "this driver's own results in its place")

/* Before anything is compiled. */
void prime_reuse_print(const struct output *out, const struct jw_prime_reuse *reuse, bool dry_run);
