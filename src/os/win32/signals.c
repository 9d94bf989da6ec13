#include "os/signals.h"

#include <windows.h>

/* The console tells every process that is attached to it. */
static BOOL WINAPI leave_it(DWORD event)
{
	return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

/* Windows has no signals to forward. */
void os_hold_signals(void)
{
}

void os_forward_signals(int pid)
{
	(void)SetConsoleCtrlHandler(leave_it, pid > 0);
}
