/* The files of a process and its descendants are read only until the time is over, or a signal asks
 * jitwarm to end: there may be very many. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

#include "cli/process_view.h"
#include "os/interrupt.h"

TEST(reading_a_process_ends_at_its_time_and_at_a_signal)
{
	struct process_view view = {0};

	OK(process_view_read(why, getpid(), 0, &view));
	assert_true(view.count > 0);
	process_view_free(&view);
	GIVES(JW_ERR_INTERRUPTED, process_view_read(why, getpid(), 1, &view));
	os_catch_interrupts();
	assert_int_equal(raise(SIGTERM), 0);
	GIVES(JW_ERR_INTERRUPTED, process_view_read(why, getpid(), 0, &view));
}

RUN_TESTS(NULL, NULL)
