#include "os/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void note(int number)
{
	interrupted = 1;
	/* The second one takes the default: nobody should have to reach for kill -9. */
	(void)signal(number, SIG_DFL);
}

static void set_all(void (*handler)(int))
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = handler};

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		(void)sigaction(numbers[i], &action, NULL);
}

void os_catch_interrupts(void)
{
	set_all(note);
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
