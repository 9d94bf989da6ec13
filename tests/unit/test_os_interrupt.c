/* One Ctrl-C asks to end and the next one ends, whatever echoes come; each case is a separate
 * process. */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/interrupt.h"

enum { LONGER_THAN_AN_ECHO_US = 700000, STILL_HERE = 7 };

static int ended_with(void (*life)(void))
{
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (!child) {
		life();
		_exit(STILL_HERE);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void signalled_twice_at_once(void)
{
	os_catch_interrupts();
	if (os_interrupted())
		_exit(1);
	(void)raise(SIGTERM);
	(void)raise(SIGTERM);
	if (!os_interrupted())
		_exit(2);
}

static void signalled_again_later(void)
{
	os_catch_interrupts();
	(void)raise(SIGINT);
	(void)usleep(LONGER_THAN_AN_ECHO_US);
	(void)raise(SIGINT);
}

static void hung_up_under_nohup(void)
{
	(void)signal(SIGHUP, SIG_IGN);
	os_catch_interrupts();
	(void)raise(SIGHUP);
	if (os_interrupted())
		_exit(1);
}

/* If the signals are not held, the request is for this process only, and not for the other one. */
static void asked_while_another_is_started(void)
{
	pid_t other;
	int status;

	os_catch_interrupts();
	os_hold_signals();
	(void)kill(getpid(), SIGTERM);
	other = fork();
	if (!other) {
		sigset_t none;

		(void)signal(SIGTERM, SIG_DFL);
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)alarm(60);
		for (;;)
			(void)pause();
	}
	os_forward_signals(other);
	if (waitpid(other, &status, 0) != other || !WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
		_exit(1);
	if (os_interrupted())
		_exit(2);
	/* The command has ended, but its end is not reported yet, so the request is for this process.
	 * */
	(void)kill(getpid(), SIGTERM);
	if (!os_interrupted())
		_exit(3);
	os_forward_signals(0);
}

/* A late echo counts as a second request. That may happen on a busy machine, but not always. */
TEST(an_echo_is_not_a_second_request)
{
	int status = ended_with(signalled_twice_at_once);

	for (int tries = 1; tries < 10 && WIFSIGNALED(status); tries++)
		status = ended_with(signalled_twice_at_once);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STILL_HERE);
}

TEST(the_second_request_ends_the_process)
{
	int status = ended_with(signalled_again_later);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

TEST(a_signal_that_nohup_ignores_stays_ignored)
{
	int status = ended_with(hung_up_under_nohup);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STILL_HERE);
}

TEST(a_request_finds_the_process_that_it_is_for)
{
	int status = ended_with(asked_while_another_is_started);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STILL_HERE);
}

RUN_TESTS(NULL, NULL)
