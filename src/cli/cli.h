/* From the command line to a command. */
#pragma once

#include "cli/command.h"

/* All commands, in the order of help; NULL ends them. */
extern const struct cli_command *const cli_commands[];
/* Runs the command in argv (argv[0] is the program's name). */
enum exit_status cli_run(int argc, char **argv);
