#include "os/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

enum { ECHO_MS = 500 };

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t interrupted;
static struct timespec first; /* only the first signal writes it */

static long since_first_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)(now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
}

/* The second one has the default effect: kill -9 should never be needed. But timeout(1) and similar
 * programs signal the process and then its group, so one request comes twice: a signal that follows
 * at once is an echo. The signals block each other meanwhile. */
static void note_signal(int number)
{
	if (!interrupted) {
		(void)clock_gettime(CLOCK_MONOTONIC, &first);
		interrupted = 1;
	} else if (since_first_ms() >= ECHO_MS) {
		(void)signal(number, SIG_DFL);
		(void)raise(number); /* delivered when this returns */
	}
}

void os_catch_interrupts(void)
{
	struct sigaction action = {.sa_handler = note_signal}, before;

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		(void)sigaddset(&action.sa_mask, caught[i]);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
		/* nohup(1): a closed terminal does not concern this process. */
		bool ignored = caught[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
					   before.sa_handler == SIG_IGN;

		if (!ignored)
			(void)sigaction(caught[i], &action, NULL);
	}
}

void os_uncatch_interrupts(void)
{
	struct sigaction now;

	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		if (!sigaction(caught[i], NULL, &now) && now.sa_handler == note_signal)
			(void)signal(caught[i], SIG_DFL);
}

bool os_interrupted(void)
{
	return interrupted != 0;
}

void os_ignore_interrupts(void)
{
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
}

int os_stop_signal(void)
{
	struct sigaction action;

	return !sigaction(SIGTSTP, NULL, &action) && action.sa_handler == SIG_DFL ? SIGTSTP : 0;
}

void os_stop_self(void)
{
	(void)raise(SIGSTOP);
}

void os_pause_process(int pid, bool paused)
{
	(void)kill(pid, paused ? SIGSTOP : SIGCONT);
}

void os_ignore_broken_pipes(void)
{
	struct sigaction action;

	if (!sigaction(SIGPIPE, NULL, &action) && action.sa_handler == SIG_DFL)
		(void)signal(SIGPIPE, SIG_IGN);
}
