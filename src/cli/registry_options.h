/* The options about a registry that `push` and `pull` share. */
#pragma once

#include "cli/command.h"

#define REGISTRY_OPTIONS                                                                           \
	CLI_SETTING(OPTION_LIST, "plain-http"), CLI_SETTING(OPTION_VALUE, "registry")

/* The registry's options in the form for the library. */
struct registry_arguments {
	const char *place;
	size_t rest;        /* the number of operands before the names of files: 0 or 1 */
	const char **plain; /* hosts that are used with plain HTTP, as they were given */
	size_t plain_count;
};
void registry_arguments_read(const struct cli *cli, struct registry_arguments *given);
void registry_arguments_free(struct registry_arguments *given);
/* Sets `place` from the first operand, or else from the setting. */
int registry_arguments_place(struct jw_error *err, const struct cli *cli,
							 struct registry_arguments *given);
