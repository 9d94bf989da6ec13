/* What prime took from the store and from former drivers, as it says it. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/command.h"

#define REUSE_OPTIONS                                                                              \
	{.name = "no-store",                                                                           \
	 .kind = OPTION_FLAG,                                                                          \
	 .help = "Neither take from the store what was compiled before nor keep there what is "        \
			 "compiled now"},                                                                      \
		{.name = "carry-over",                                                                     \
		 .kind = OPTION_FLAG,                                                                      \
		 .help = "After an upgrade of the driver: take over what older drivers have compiled, "    \
				 "from the cache and the store, under this driver's names; it takes seconds. "     \
				 "Only the rest is compiled"},                                                     \
	{                                                                                              \
		.name = "recompile-carried", .kind = OPTION_FLAG,                                          \
		.help = "Compile what was carried over from older drivers, and put this driver's own "     \
				"results in its place"                                                             \
	}

/* Before anything is compiled. */
void prime_reuse_print(const struct output *out, const struct jw_prime_reuse *reuse, bool dry_run);
