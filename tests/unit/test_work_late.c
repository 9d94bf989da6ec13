/* Compiled entries wait for the cache's lock; the time in which the machine sleeps does not count.
 * The clock is this program's own. */
#include "gates_posix.h"

#include <time.h>

#include "runs.h"

static time_t slept_s;

/* libuv reads the clock through this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int failed = (int)syscall(SYS_clock_gettime, clock, time);

	time->tv_sec += slept_s;
	return failed;
}

static unsigned ticks;

/* Once all entries wait, the machine sleeps for a minute; a while later the lock is free. */
static void sleep_and_let_go(void *context, const struct jw_prime_progress *progress)
{
	(void)context;
	(void)progress;
	ticks += os_exists(keep(os_join(folder, "run/later")));
	slept_s = ticks < 2 * MODULES ? 0 : 60;
	gate_locks_busy = ticks < 4 * MODULES ? INT32_MAX : 0;
}

CASE(a_sleep_is_no_wait_for_the_lock)
{
	gate_locks_busy = INT32_MAX;
	options.progress = sleep_and_let_go;
	OK(run_with(why, 1, "do_job() { fine $1; }\nhello; serve\n"));
	gate_locks_busy = 0;
	assert_true(ticks >= 4 * MODULES);
	expect_all();
}

RUN_TESTS(make_folder, remove_folder)
