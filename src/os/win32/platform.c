#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/library.h"
#include "os/platform.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <psapi.h>
#include <setupapi.h>
#include <winternl.h>

const char os_name[] = "windows";
const bool os_is_windows = true;

bool os_is_wsl(void)
{
	return false;
}

/* Lists the loaded kernel modules with NtQuerySystemInformation. Every account may read their
 * names; psapi's calls need their addresses, which Windows 11 24H2 hides from most accounts. */
struct kernel_modules {
	ULONG count;
	struct {
		void *section, *mapped, *image;
		ULONG size, flags;
		USHORT load_order, start_order, loads, name_at;
		char path[256]; /* "\SystemRoot\System32\DriverStore\…\nvlddmkm.sys", or "\??\C:\…" */
	} modules[];
};

/* Finds NVIDIA's file; a later installation does not change it, because each has its own folder in
 * the driver store. NULL if there is none. */
static char *loaded_module(void)
{
	enum {
		MODULE_INFORMATION = 11,
		BYTES = 1 << 20
	}; /* room for 3,500 modules; usually there are 200 */
	static const char root[] = "\\SystemRoot\\", plain[] = "\\??\\";
	struct kernel_modules *list = mem_alloc(BYTES);
	wchar_t wide[MAX_PATH];
	const UINT length = GetSystemWindowsDirectoryW(wide, MAX_PATH);
	char *folder = length && length < MAX_PATH ? win32_shown(NULL, wide) : NULL, *found = NULL;
	size_t count = 0;

	if (folder && NtQuerySystemInformation((SYSTEM_INFORMATION_CLASS)MODULE_INFORMATION, list,
										   BYTES, NULL) >= 0)
		count = list->count;
	for (size_t i = 0; !found && i < count && (char *)&list->modules[i + 1] <= (char *)list + BYTES;
		 i++) {
		const char *path = list->modules[i].path;

		if (!memchr(path, '\0', sizeof list->modules[i].path) ||
			_stricmp(os_base_name(path), "nvlddmkm.sys") != 0)
			continue;
		if (text_starts_fold(path, root))
			found = mem_printf("%s\\%s", folder, path + sizeof root - 1);
		else
			found = mem_string(text_starts(path, plain) ? path + sizeof plain - 1 : path);
	}
	mem_free(folder);
	mem_free(list);
	return found;
}

void os_running_driver(char ret_release[32])
{
	char *named = os_env("JITWARM_KERNEL_MODULE"), *path = named ? named : loaded_module();
	struct jw_error why = {0};

	ret_release[0] = '\0';
	if (path)
		(void)os_file_release(&why, path, ret_release);
	mem_free(path);
}

bool os_has_gpu_file(void)
{
	return false;
}

/* Returns the share of the machine that a job object (a container) grants, in 1/10000; 0 without a
 * limit. */
static DWORD job_share(void)
{
	JOBOBJECT_CPU_RATE_CONTROL_INFORMATION info = {0};
	const DWORD hard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;

	if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &info, sizeof info,
								   NULL) ||
		(info.ControlFlags & hard) != hard)
		return 0;
	return info.CpuRate;
}

unsigned os_cores(void)
{
	DWORD_PTR ours = 0, machine = 0;
	DWORD all = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), share = job_share();
	unsigned cores = 0;

	if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &machine))
		for (DWORD_PTR mask = ours; mask; mask &= mask - 1)
			cores++;
	/* A mask covers one group of at most 64; new processes may use all groups. */
	if (ours == machine && all > cores)
		cores = all;
	if (share && all && (all * share + 9999) / 10000 < cores)
		cores = (all * share + 9999) / 10000;
	return cores ? cores : 1;
}

/* Counts the cores of the first group that have a thread in the mask. */
static unsigned count_cores(const uint8_t *records, DWORD size, DWORD_PTR ours)
{
	unsigned cores = 0;

	for (DWORD at = 0; at < size;) {
		const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *record = (const void *)(records + at);

		if (size - at < sizeof *record || record->Size < sizeof *record || record->Size > size - at)
			break;
		cores += !ours || (record->Processor.GroupMask[0].Group == 0 &&
						   (record->Processor.GroupMask[0].Mask & ours));
		at += record->Size;
	}
	return cores;
}

unsigned os_physical_cores(void)
{
	DWORD_PTR ours = 0, machine = 0;
	DWORD size = 0;
	unsigned threads = os_cores(), cores = 0;
	uint8_t *records;

	(void)GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &size);
	records = size ? mem_alloc(size) : NULL;
	/* If all of the first group may be used, so may the other groups, as in os_cores. */
	if (records && GetProcessAffinityMask(GetCurrentProcess(), &ours, &machine) &&
		GetLogicalProcessorInformationEx(RelationProcessorCore, (void *)records, &size))
		cores = count_cores(records, size, ours == machine ? 0 : ours);
	mem_free(records);
	return cores && cores < threads ? cores : threads;
}

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

void os_prefer_for_oom_kill(void)
{
}

void os_limit_file_size(uint64_t most_bytes)
{
	(void)most_bytes;
}

int os_prepare_limits(struct jw_error *err)
{
	(void)err;
	return 0;
}

/* The C library of Windows has no UTF-8 locale; libraries use UTF-16 there. */

struct os_locale *os_locale_utf8(void)
{
	return NULL;
}

void os_locale_restore(struct os_locale *locale)
{
	(void)locale;
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
	/* Lowers disk and memory priority too, but only for this thread, which compiles: the background
	 * mode of a whole process may limit its working set to 32 MB, and a compiler would do nothing
	 * but swap. */
	(void)SetThreadPriority(GetCurrentThread(), THREAD_MODE_BACKGROUND_BEGIN);
	(void)SetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, &efficient,
								sizeof efficient);
}

/* NVIDIA's display devices according to Windows' plug and play manager; needs no driver. */

/* Returns whether one of several texts begins with `start`. Each ends in NUL, and the last is
 * empty. */
static bool any_starts(const wchar_t *texts, const wchar_t *start)
{
	for (; *texts; texts += wcslen(texts) + 1)
		if (!_wcsnicmp(texts, start, wcslen(start)))
			return true;
	return false;
}

static bool property_texts(HDEVINFO list, SP_DEVINFO_DATA *device, DWORD property, wchar_t *texts,
						   size_t most)
{
	memset(texts, 0, most * sizeof *texts);
	return SetupDiGetDeviceRegistryPropertyW(list, device, property, NULL, (BYTE *)texts,
											 (DWORD)((most - 2) * sizeof *texts), NULL);
}

static DWORD property_number(HDEVINFO list, SP_DEVINFO_DATA *device, DWORD property)
{
	DWORD value = 0;

	if (!SetupDiGetDeviceRegistryPropertyW(list, device, property, NULL, (BYTE *)&value,
										   sizeof value, NULL))
		return 0;
	return value;
}

static unsigned hex_number(const wchar_t *text, size_t digits)
{
	unsigned value = 0;

	for (size_t i = 0; i < digits; i++) {
		wchar_t c = text[i];
		unsigned digit = c >= L'0' && c <= L'9'   ? (unsigned)(c - L'0')
						 : c >= L'A' && c <= L'F' ? (unsigned)(c - L'A') + 10
						 : c >= L'a' && c <= L'f' ? (unsigned)(c - L'a') + 10
												  : 16;

		if (digit == 16)
			break;
		value = value * 16 + digit;
	}
	return value;
}

/* Hardware ids read "PCI\VEN_10DE&DEV_2484&SUBSYS_…"; compatible ids contain the class code:
 * "PCI\CC_0300" or "PCI\CC_0302". Base class 03: display controller; 0302 is a "3D controller". */
static bool read_device(HDEVINFO list, SP_DEVINFO_DATA *device, struct os_pci_device *ret_device)
{
	static const wchar_t vendor[] = L"PCI\\VEN_10DE&DEV_";
	const size_t vendor_length = sizeof vendor / sizeof *vendor - 1;
	wchar_t texts[2048];
	DWORD bus, address;
	unsigned number;

	if (!property_texts(list, device, SPDRP_HARDWAREID, texts, sizeof texts / sizeof *texts) ||
		_wcsnicmp(texts, vendor, vendor_length) != 0)
		return false;
	number = hex_number(texts + vendor_length, 4);
	if (!number ||
		!property_texts(list, device, SPDRP_COMPATIBLEIDS, texts, sizeof texts / sizeof *texts) ||
		!any_starts(texts, L"PCI\\CC_03"))
		return false;
	/* Bus numbers have the segment above their eight bits; an address is device << 16 | function */
	bus = property_number(list, device, SPDRP_BUSNUMBER);
	address = property_number(list, device, SPDRP_ADDRESS);
	*ret_device = (struct os_pci_device){.vendor = OS_PCI_VENDOR_NVIDIA, .device = number};
	(void)snprintf(ret_device->bus, sizeof ret_device->bus, "%04x:%02x:%02x.%x",
				   (unsigned)(bus >> 8 & 0xffff), (unsigned)(bus & 0xff),
				   (unsigned)(address >> 16 & 0x1f), (unsigned)(address & 7));
	return true;
}

int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count)
{
	HDEVINFO list = SetupDiGetClassDevsW(NULL, L"PCI", NULL, DIGCF_PRESENT | DIGCF_ALLCLASSES);
	SP_DEVINFO_DATA device = {.cbSize = sizeof device};
	size_t count = 0;

	(void)err;
	if (list == INVALID_HANDLE_VALUE) {
		*ret_count = 0;
		return 0;
	}
	for (DWORD i = 0; count < most && SetupDiEnumDeviceInfo(list, i, &device); i++)
		if (read_device(list, &device, &devices[count]))
			count++;
	(void)SetupDiDestroyDeviceInfoList(list);
	*ret_count = count;
	return 0;
}

bool os_pci_sleeps(const struct os_pci_device *device)
{
	(void)device;
	return false;
}
