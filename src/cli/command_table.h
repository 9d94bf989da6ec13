/* The table of commands. */
#ifndef JW_CLI_COMMANDS_H
#define JW_CLI_COMMANDS_H

#include "cli/command.h"

/* In the order of help; NULL past the end. */
const struct cli_command *commands_at(size_t at);

/* The command named by the first one or two of `count` words, and how many they were. NULL where
 * there is none. */
const struct cli_command *commands_find(char *const *words, size_t count, size_t *ret_used);

/* Whether `word` is the first word of commands of two ("cache"). */
bool commands_is_group(const char *word);

/* The first word of the command nearest to `word`, or NULL. */
const char *commands_suggest(const char *word);

#endif
