/* The table of commands. */
#ifndef JW_CLI_COMMAND_TABLE_H
#define JW_CLI_COMMAND_TABLE_H

#include "cli/command.h"

/* In the order of help; NULL past the end. */
extern const struct cli_command *const command_table[];

#endif
