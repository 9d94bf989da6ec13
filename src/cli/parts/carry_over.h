/* What former drivers have compiled goes over to this one (jitwarm/carry.h): part of prime. */
#ifndef JW_CLI_PARTS_CARRY_OVER_H
#define JW_CLI_PARTS_CARRY_OVER_H

#include <jitwarm/carry.h>
#include <jitwarm/prime.h>

#include "cli/command.h"

#define CARRYING_OPTIONS                                                                           \
	{.name = "carry-over",                                                                         \
	 .kind = OPTION_FLAG,                                                                          \
	 .help = "After an upgrade of the driver: take over what older drivers have compiled, from "   \
			 "the cache and the store, under this driver's names; it takes seconds. Only the "     \
			 "rest is compiled"},                                                                  \
	{                                                                                              \
		.name = "recompile-carried", .kind = OPTION_FLAG,                                          \
		.help = "Compile what was carried over from older drivers, and put this driver's own "     \
				"results in its place"                                                             \
	}

/* The options that exclude each other. */
int carry_over_check(struct jw_error *err, const struct options *options);
/* Carries over what is missing and says so; *ret_result stays untouched where there is nothing to
 * tell. The caller frees it. */
void carry_over_run(struct cli *cli, const struct jw_system *system,
					const struct jw_prime_missing *missing, struct jw_carry_result **ret_result);
/* Its members of a document. `result` may be NULL. */
void carry_over_document(cJSON *document, const struct jw_carry_result *result);

#endif
