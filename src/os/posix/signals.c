#include "os/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static struct sigaction before[sizeof passed_on / sizeof *passed_on];
static volatile sig_atomic_t receiver;
static sigset_t mask_before;
static bool held;

void os_hold_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		(void)sigaddset(&set, passed_on[i]);
	held = !pthread_sigmask(SIG_BLOCK, &set, &mask_before);
}

static void take_signals_back(void)
{
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		(void)sigaction(passed_on[i], &before[i], NULL);
}

/* The terminal's own signals come from the kernel and reach every process of the foreground. A
 * signal that arrives just after the receiver has ended is meant for this process. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const int kept = errno;

	(void)context;
	if (receiver > 0 && info->si_code <= 0 && kill((pid_t)receiver, number) && errno == ESRCH) {
		take_signals_back();
		(void)raise(number); /* delivered when this returns */
	}
	errno = kept;
}

void os_forward_signals(int pid)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
	const bool forwards = receiver > 0;

	if (pid <= 0 && forwards)
		take_signals_back(); /* first: a signal must not go to a process that has ended */
	receiver = pid;
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; pid > 0 && i < sizeof passed_on / sizeof *passed_on; i++)
		(void)sigaction(passed_on[i], &action, forwards ? NULL : &before[i]);
	if (held)
		(void)pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
	held = false;
}
