/* Command lines that show what a command is for. */
#pragma once

#include "cli/command.h"

/* One a line, each with a line feed; "" for a hidden command. */
const char *examples_of(const struct cli_command *command);
