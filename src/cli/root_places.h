/* Keeps root from writing, deleting, or starting a program in a place that another account can
 * change. */
#pragma once

#include "cli/command.h"

/* Checks once, before a command does anything, every place that it will write to or start programs
 * from. -1 if a place is refused; the message ends with the line to type. If a command needs none
 * of the refused places, root continues without jitwarm's state, and says so once. Does nothing for
 * other accounts and on Windows. */
int root_check_places(struct jw_error *err, struct cli *cli);
/* Checks, for a command about an account's programs, that this process has that account; otherwise
 * -1 with the line that runs the command there, in that group. */
int root_need_account(struct jw_error *err, struct cli *cli, uint32_t owner, uint32_t group);
