#include "os/power.h"

#include "os/win32/win32.h"

bool os_on_battery(void)
{
	enum { OFFLINE = 0 };
	SYSTEM_POWER_STATUS status;

	return GetSystemPowerStatus(&status) && status.ACLineStatus == OFFLINE;
}

void os_work_in_background(void)
{
	PROCESS_POWER_THROTTLING_STATE efficient = {
		.Version = PROCESS_POWER_THROTTLING_CURRENT_VERSION,
		.ControlMask = PROCESS_POWER_THROTTLING_EXECUTION_SPEED,
		.StateMask = PROCESS_POWER_THROTTLING_EXECUTION_SPEED,
	};

	(void)SetPriorityClass(GetCurrentProcess(), IDLE_PRIORITY_CLASS);
	/* Lowers disk and memory priority too. Only for this thread, which compiles: the background
	 * mode of a whole process may limit its working set to 32 MB, and a compiler would only page.
	 */
	(void)SetThreadPriority(GetCurrentThread(), THREAD_MODE_BACKGROUND_BEGIN);
	(void)SetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, &efficient,
								sizeof efficient);
}
