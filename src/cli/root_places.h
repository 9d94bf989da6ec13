/* Root neither writes, nor deletes, nor starts a program in a place that another account can
 * change. */
#pragma once

#include "cli/command.h"

/* Looks once, before a command does anything, at every place that it will write to or start
 * programs from. -1: a place is refused, and the message ends with the line to type. For a command
 * that needs none of them root goes on without jitwarm's state, and says so once. Does
 * nothing for other accounts and on Windows. */
int root_check_places(struct jw_error *err, struct cli *cli);
/* For a command that is about an account's programs: -1 unless this process has that account, with
 * the line that runs the command there. */
int root_need_account(struct jw_error *err, struct cli *cli, uint32_t owner);
