/* The door for root: it writes, starts and believes only what root alone can change
 * (docs/security.md). Each place of a command is checked once, before the command does anything.
 * Does nothing for other accounts, and for root in a user namespace of theirs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

/* From now on the rooms ask about the programs, libraries, keys and settings that they find
 * (os_guard); a refusal names the line of this command. */
void places_open(struct cli *cli);
/* The setting trust-accounts: with true, nothing is refused. */
void places_lift(bool lifted);
/* -1 if a place is refused; the message ends with the line to type. If a command only reads, or
 * runs its program anyway, it continues without jitwarm's state, and says so once. */
int places_check(struct jw_error *err, struct cli *cli);
/* Removes an output that was made in advance, and is still empty. */
void places_close(void);
/* Takes the variables of a process (jw_examine_process), and checks the places that they name. For
 * another account's process -1 with the line that runs the command there. */
int places_enter_process(struct jw_error *err, struct cli *cli, int pid);
