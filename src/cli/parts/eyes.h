/* With whose eyes `doctor` looks: its own, another account's, a process's. */
#pragma once

#include <stdbool.h>

#include "cli/command.h"
#include "cli/parts/process_code.h"

struct eyes {
	struct process_code process; /* pid 0: none */
	bool inside; /* its files are not ours: nothing is started or changed, no command is named */
	struct jw_system *machine; /* then: as it was seen before they were entered */
	char *before; /* what a command needs before it to have the same eyes, in a shell; NULL: none */
};

/* --user, --pid. Turns this process into that account, permanently. */
int eyes_choose(struct jw_error *err, struct cli *cli, struct eyes *ret_eyes);
/* Enters the files of a process that has other ones (jw_process_is_elsewhere), for good. What it
 * has loaded and the GPUs that it sees are looked at before: inside there is no driver to ask. On
 * failure this process should end. */
int eyes_enter(struct jw_error *err, struct cli *cli, int pid, struct process_code *ret_code,
			   struct jw_system **ret_machine);
void eyes_free(struct eyes *eyes);
