/* jitwarm worker: a process that prime starts. */
#include <jitwarm/store.h>
#include <jitwarm/worker.h>

#include "cli/command.h"

static int worker_run(struct jw_error *err, struct cli *cli)
{
	const int result = jw_is_store_worker() ? jw_store_worker_main() : jw_worker_main();

	(void)err;
	cli->status = result ? EXIT_FAILED : EXIT_DONE;
	return 0;
}

const struct cli_command command_worker = {
	.name = "worker",
	.summary = "Compile modules for a supervisor",
	.usage = "",
	.description = "Takes jobs on standard input and answers on standard output, in the protocol "
				   "of “jitwarm prime”, which starts it.",
	.hidden = true,
	.needs_no_place = true,
	.run = worker_run,
};
