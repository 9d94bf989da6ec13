/* Workers that write the cache themselves are ended while this process holds the cache's lock, so
 * that none is in the middle of writing the index. */
#include "gates_posix.h"

#include <signal.h>

#include "runs.h"

static char *index_path;
static unsigned killed, killed_unheld;

/* Replaces the C library's function, which libuv calls. */
__attribute__((visibility("default"))) int kill(pid_t process, int number)
{
	if (number == SIGKILL && index_path) {
		killed++;
		killed_unheld += gate_can_lock(index_path) ? 1 : 0;
	}
	return (int)syscall(SYS_kill, process, number);
}

static bool stop_when_begun(void *unused)
{
	bool is = os_exists(keep(os_join(folder, "marks/begun")));

	(void)unused;
	return is;
}

static int run_until_begun(void)
{
	options.cancel.is_cancelled = stop_when_begun;
	end_ms = 100;
	return run_with(why, 1,
					"do_job() { make_entry $1; once begun; exec sleep 100; }\nhello; serve\n");
}

CASE(a_worker_that_writes_the_cache_is_ended_under_its_lock)
{
	opaque = true;
	index_path = keep(os_join(cache, "index"));
	OK(os_make_dirs(why, cache, 0700));
	OK(os_write_atomic(why, index_path, "", 0));
	killed = killed_unheld = 0;
	(void)run_until_begun();
	assert_true(killed > 0);
	assert_int_equal(killed_unheld, 0);
	/* The lock is free afterwards. */
	assert_true(gate_can_lock(index_path));
	index_path = NULL;
}

RUN_TESTS(make_folder, remove_folder)
