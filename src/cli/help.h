/* Help, generated from the tables of commands and options. */
#pragma once

#include "base/buf.h"
#include "cli/command.h"

/* Appends the help of one command, at most `columns` wide. */
int help_command(struct jw_error *err, struct buf *buf, const struct cli_command *command,
				 size_t columns);
/* Appends the list of commands: all of them, or one group ("cache"). */
int help_commands(struct jw_error *err, struct buf *buf, const struct cli_command *const *commands,
				  const char *group, size_t columns);
