/* The driver locks the index with fcntl, and tries for some 200 ms; then it goes on without the
 * cache. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum lock_kind { WRITE_LOCK, READ_LOCK, FLOCK };

/* Starts a process that holds a lock on the suite's index until let_go. */
static pid_t hold(enum lock_kind kind)
{
	struct flock lock = {.l_type = kind == WRITE_LOCK ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
	int ready[2];
	pid_t pid;
	char done;

	if (pipe(ready) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		int index = open(cache_file("index"), O_RDWR);

		if (kind == FLOCK ? flock(index, LOCK_EX) : fcntl(index, F_SETLK, &lock))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &done, 1) != 1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static void let_go(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Loads module 1, which is cached, and module 2, which is not, while another process holds the
 * lock. */
static enum outcome load_while_held(enum lock_kind kind, int first_compiled, size_t entries)
{
	struct answer there, missing;
	pid_t holder;

	CHECK_IS(load(module(1)).compiled, 1);
	holder = hold(kind);
	CHECK(holder > 0);
	there = load(module(1));
	missing = load(module(2));
	let_go(holder);
	CHECK_IS(there.result, 0);
	CHECK_IS(there.compiled, first_compiled);
	CHECK_IS(missing.result, 0);
	CHECK_IS(missing.compiled, 1);
	CHECK_IS(entries_count(suite.cache), entries);
	/* Twice 200 ms: once for the look-up, once for the insert. */
	CHECK(kind != WRITE_LOCK || missing.ms > 300);
	CHECK_IS(load(module(1)).compiled, 0);
	return PASSED;
}

static enum outcome writer_shuts_out(void)
{
	return load_while_held(WRITE_LOCK, 1, 1);
}
static enum outcome reader_lets_look_up(void)
{
	return load_while_held(READ_LOCK, 0, 1);
}
static enum outcome flock_is_ignored(void)
{
	return load_while_held(FLOCK, 0, 2);
}

/* Says whether a look-up waits for a holder that unlocks after 50 ms. */
static bool waits_for_short_hold(void)
{
	pid_t holder = hold(WRITE_LOCK), timer;
	struct answer answer;

	if (holder <= 0)
		return false;
	timer = fork();
	if (timer == 0) {
		usleep(50000);
		kill(holder, SIGKILL);
		_exit(0);
	}
	answer = load(module(1));
	waitpid(timer, NULL, 0);
	waitpid(holder, NULL, 0);
	return answer.compiled == 0;
}

/* A holder that unlocks within the 200 ms blocks no look-up. On a busy machine 50 ms may become
 * longer than that. */
static enum outcome short_hold_is_waited_for(void)
{
	int tries = 0;

	CHECK_IS(load(module(1)).compiled, 1);
	while (tries < 10 && !waits_for_short_hold())
		tries++;
	CHECK(tries < 10);
	return PASSED;
}

/* Loads module 1, which is in the cache, and module 2, which is not, while locks fail. */
static enum outcome load_while_failing(int error, bool is_retried)
{
	struct answer there, missing;
	char number[16];
	int failed;

	snprintf(number, sizeof number, "%d", error);
	CHECK_IS(load(module(1)).result, 0);
	client_load(suite.client, "lockerror", number, NULL);
	there = load(module(1));
	missing = load(module(2));
	failed = client_load(suite.client, "lockerror", "0", NULL).result;
	CHECK_IS(there.result, 0);
	CHECK_IS(there.compiled, 1);
	CHECK_IS(missing.result, 0);
	CHECK_IS(missing.compiled, 1);
	CHECK_IS(entries_count(suite.cache), 1);
	CHECK_IS(load(module(1)).compiled, 0);
	CHECK(is_retried ? failed > 8 : failed > 0 && failed <= 4);
	CHECK(!is_retried || missing.ms > 300);
	return PASSED;
}

static enum outcome load_while_failing_with(const int *errors, bool is_retried)
{
	enum outcome outcome = PASSED;

	for (; *errors && outcome == PASSED; errors++)
		outcome = load_while_failing(*errors, is_retried);
	return outcome;
}

/* On some network file systems, locks fail for good: the driver neither reads nor stores, and does
 * not wait, since it requests each lock once. */
static enum outcome failing_for_good(void)
{
	return load_while_failing_with((const int[]){ENOLCK, EOPNOTSUPP, EIO, 0}, false);
}

/* For errors that mean another holder, the driver requests the lock repeatedly, for 200 ms in the
 * look-up and 200 ms in the insert. */
static enum outcome failing_for_now(void)
{
	return load_while_failing_with((const int[]){EACCES, EAGAIN, 0}, true);
}

const struct test_case lock_cases[] = {
	{"lock/a write lock prevents look-ups and inserts", writer_shuts_out},
	{"lock/a read lock prevents inserts", reader_lets_look_up},
	{"lock/the driver waits for a lock that is held briefly", short_hold_is_waited_for},
	{"lock/the driver ignores flock", flock_is_ignored},
	{"lock/a lock that gives ENOLCK, EOPNOTSUPP or EIO: no caching, at once", failing_for_good},
	{"lock/a lock that gives EACCES or EAGAIN: no caching, after 400 ms", failing_for_now},
	{NULL, NULL},
};
