#include "os/memory.h"

#include "os/win32/win32.h"

/* After windows.h, whose types it needs */
#include <psapi.h>

bool os_memory(uint64_t *ret_total_bytes, uint64_t *ret_available_bytes)
{
	MEMORYSTATUSEX status = {.dwLength = sizeof status};

	if (!GlobalMemoryStatusEx(&status) || !status.ullTotalPhys)
		return false;
	*ret_total_bytes = status.ullTotalPhys;
	/* Windows does not overcommit: the remaining commit charge is a limit too. */
	*ret_available_bytes = status.ullAvailPhys < status.ullAvailPageFile ? status.ullAvailPhys
																		 : status.ullAvailPageFile;
	return true;
}

static PROCESS_MEMORY_COUNTERS memory_counters(void)
{
	PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};

	if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters))
		return (PROCESS_MEMORY_COUNTERS){0};
	return counters;
}

uint64_t os_peak_resident_bytes(void)
{
	return memory_counters().PeakWorkingSetSize;
}

void os_release_memory(void)
{
	(void)HeapCompact(GetProcessHeap(), 0);
}

/* Windows offers them only to accounts with the right to lock memory. */
void os_prefer_large_pages(void *memory, size_t size)
{
	(void)memory;
	(void)size;
}

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

/* Windows kills no process when memory runs out. */
void os_keep_memory(uint64_t most_bytes)
{
	(void)most_bytes;
}

void os_be_first_to_go(void)
{
}
