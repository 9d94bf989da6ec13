#include "os/interrupt.h"

#include <windows.h>

static volatile LONG interrupted;

static BOOL WINAPI note(DWORD event)
{
	(void)event;
	/* The second one takes the default, which ends the process. */
	return InterlockedExchange(&interrupted, 1) == 0;
}

void os_catch_interrupts(void)
{
	(void)SetConsoleCtrlHandler(note, TRUE);
}

bool os_interrupted(void)
{
	return interrupted != 0;
}

void os_ignore_interrupts(void)
{
	(void)SetConsoleCtrlHandler(NULL, TRUE);
}
