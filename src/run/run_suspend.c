/* Ctrl-Z and continuing. The keyboard stops the workers too; a signal to only the supervisor would
 * not. The supervisor must not be stopped while it holds the lock of the cache's index, since
 * programs wait for it. On the loop's thread it holds no lock. */
#include "os/interrupt.h"
#include "run/run_state.h"

static void pause_workers(struct run *run, bool paused)
{
	for (unsigned i = 0; run->slots && i < run->setup->workers; i++)
		if (run->slots[i].child)
			child_pause(run->slots[i].child, paused);
}

static void on_stop(uv_signal_t *handle, int number)
{
	struct run *run = handle->data;

	(void)number;
	pause_workers(run, true);
	os_stop_self();
	pause_workers(run, false);
}

void run_catch_stop(struct run *run)
{
	int number = os_stop_signal();

	(void)uv_signal_init(&run->loop, &run->stop_signal);
	run->stop_signal.data = run;
	if (number)
		(void)uv_signal_start(&run->stop_signal, on_stop, number);
	/* This handle does not keep the loop running. */
	uv_unref((uv_handle_t *)&run->stop_signal);
}

void run_release_stop(struct run *run)
{
	uv_close((uv_handle_t *)&run->stop_signal, NULL);
	(void)uv_run(&run->loop, UV_RUN_DEFAULT);
}
