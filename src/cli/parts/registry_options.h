/* What `push`, `pull` and `prime --share` have in common: the options about a place, and the lines
 * about what went to and fro. */
#pragma once

#include <jitwarm/share.h>

#include "cli/command.h"
#include "cli/parts/pack_report.h"

#define INSECURE_OPTIONS                                                                           \
	CLI_FLAG("insecure", "Speak plain HTTP to a registry on this machine (localhost, 127.0.0.1)"), \
		CLI_LIST(                                                                                  \
			"insecure-host", "HOST[:PORT]",                                                        \
			"Speak plain HTTP to this host, which others can read and change on its way; may be "  \
			"repeated",                                                                            \
			.names = NAMES_HOST)
#define REGISTRY_OPTIONS                                                                           \
	INSECURE_OPTIONS,                                                                              \
		CLI_DURATION("timeout", "TIME",                                                            \
					 "Give up on a registry that is silent or crawls for so long; without it 30s", \
					 .positive = true)

/* The registry's options in the form of the library's. */
struct registry_given {
	const char **hosts;
	size_t host_count;
	bool insecure;
	uint64_t timeout_ms;
};
int registry_given_read(struct jw_error *err, const struct cli *cli, struct registry_given *given);
void registry_given_free(struct registry_given *given);

void registry_print_pushed(const struct output *out, const struct jw_push_result *result);
void registry_print_pulled(const struct output *out, const struct jw_pull_result *result);
/* 0 where all was imported, 1 where a part was refused or could not be pulled, 2 where all of it
 * was refused. */
enum exit_status registry_status_of_pull(const struct jw_pull_result *result);
