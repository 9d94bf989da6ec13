/* The table of commands. */
#pragma once

#include "cli/command.h"

/* In the order of help; NULL past the end. */
extern const struct cli_command *const command_table[];
