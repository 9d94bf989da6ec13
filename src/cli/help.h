/* Help, generated from the tables of commands and options. */
#pragma once

#include "base/buf.h"
#include "cli/command.h"

/* Appends the help of one command, at most `columns` wide. Unless everything is wanted, it should
 * fit a screen of forty lines: if it does not, rare options and further paragraphs are left out. */
void help_command(struct buf *buf, const struct cli_command *command, size_t columns, bool all);
/* Appends the list of commands: with groups in one line each, all of them, or those of one group
 * ("cache"). */
void help_commands(struct buf *buf, const struct cli_command *const *commands, const char *group,
				   size_t columns, bool all);
/* Prints the text, also with --quiet and --json, and frees it. `for_terminal` converts its signs to
 * the locale. */
void help_print(struct buf *text, bool for_terminal);
