/* Memory, power, and working in the background. */
#include "os/strain.h"

#include "os/win32/win32.h"

/* Before this header, which needs its types */
#include <psapi.h>

double os_memory_pressure(void)
{
	static HANDLE notice;
	BOOL is_short = FALSE;

	if (!notice)
		notice = CreateMemoryResourceNotification(LowMemoryResourceNotification);
	return notice && QueryMemoryResourceNotification(notice, &is_short) && is_short ? 100 : 0;
}

uint64_t os_process_resident(int pid)
{
	PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
	HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);
	uint64_t bytes = 0;

	if (process && K32GetProcessMemoryInfo(process, &counters, sizeof counters))
		bytes = counters.WorkingSetSize;
	if (process)
		(void)CloseHandle(process);
	return bytes;
}

/* Windows kills nobody when memory runs out. */
void os_keep_memory(uint64_t most_bytes)
{
	(void)most_bytes;
}

void os_be_first_to_go(void)
{
}

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
	/* Disk and memory too. Of this thread, which compiles: the background mode of a whole process
	 * may hold its working set down to 32 MB, and a compiler would do nothing but page. */
	(void)SetThreadPriority(GetCurrentThread(), THREAD_MODE_BACKGROUND_BEGIN);
	(void)SetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, &efficient,
								sizeof efficient);
}
