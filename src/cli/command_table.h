#pragma once

#include "cli/command.h"

/* In the order of help, ending with NULL. */
extern const struct cli_command *const command_table[];
