/* jitwarm worker: a process that prime starts. */
#include <jitwarm/worker.h>

#include "cli/command.h"

static enum exit_status worker_run(struct cli *cli)
{
	(void)cli;
	return jw_worker_main() ? EXIT_FAILED : EXIT_DONE;
}

const struct cli_command command_worker = {
	.name = "worker",
	.summary = "Compile modules for a supervisor",
	.usage = "",
	.description = "Takes jobs on standard input and answers on standard output, in the protocol "
				   "of “jitwarm prime”, which starts it.",
	.hidden = true,
	.run = worker_run,
};
