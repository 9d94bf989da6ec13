#include "os/interrupt.h"

#include <windows.h>

static volatile LONG interrupted;

/* Runs in a separate thread. Returning TRUE keeps the process running after Ctrl-C and Ctrl-Break;
 * when the console is closed, or the user logs off, the process ends as soon as this returns, at
 * the latest after five seconds: so it waits for the program to end by itself. */
static BOOL WINAPI note_console_event(DWORD event)
{
	enum { LONGER_THAN_WE_ARE_GIVEN_MS = 10000 };

	if (InterlockedExchange(&interrupted, 1) &&
		(event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT))
		return FALSE; /* the second request ends the process */
	if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
		Sleep(LONGER_THAN_WE_ARE_GIVEN_MS);
	return TRUE;
}

void os_catch_interrupts(void)
{
	(void)SetConsoleCtrlHandler(note_console_event, TRUE);
}

void os_uncatch_interrupts(void)
{
	(void)SetConsoleCtrlHandler(note_console_event, FALSE);
}

bool os_interrupted(void)
{
	return interrupted != 0;
}

static BOOL WINAPI ignore(DWORD event)
{
	return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

void os_ignore_interrupts(void)
{
	(void)SetConsoleCtrlHandler(ignore, TRUE);
}

/* Windows has no such signal. */
int os_stop_signal(void)
{
	return 0;
}

void os_stop_self(void)
{
}

void os_pause_process(int pid, bool paused)
{
	(void)pid;
	(void)paused;
}

void os_ignore_broken_pipes(void)
{
}
