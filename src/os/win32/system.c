#include "os/system.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/win32/win32.h"

/* Before these headers, which need its types */
#include <windows.h>

#include <knownfolders.h>
#include <psapi.h>
#include <sddl.h>
#include <shlobj.h>

const char os_name[] = "windows";

uint64_t os_monotonic_ns(void)
{
	LARGE_INTEGER now, second;
	uint64_t ticks, per_second;

	(void)QueryPerformanceCounter(&now);
	(void)QueryPerformanceFrequency(&second);
	ticks = (uint64_t)now.QuadPart;
	per_second = second.QuadPart > 0 ? (uint64_t)second.QuadPart : 1;
	return ticks / per_second * 1000000000u + ticks % per_second * 1000000000u / per_second;
}

static uint64_t ticks_of(FILETIME time)
{
	return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

uint64_t os_cpu_ns(void)
{
	FILETIME made, ended, kernel, user;

	if (!GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user))
		return 0;
	return (ticks_of(kernel) + ticks_of(user)) * 100;
}

bool os_is_wsl(void)
{
	return false;
}

int64_t os_now_s(void)
{
	FILETIME now;

	GetSystemTimeAsFileTime(&now);
	return win32_time_ns(&now) / 1000000000;
}

/* Share of the machine that a job object (a container) grants, in 1/10000; 0 where it does not
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
	/* A mask covers one group of at most 64; new processes are spread over all groups. */
	if (ours == machine && all > cores)
		cores = all;
	if (share && all && (all * share + 9999) / 10000 < cores)
		cores = (all * share + 9999) / 10000;
	return cores ? cores : 1;
}

/* Of the cores those of which a thread is in the mask, in the first group. */
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
	records = size ? mem_alloc(NULL, size) : NULL;
	/* With all of the first group come those of the others, as in os_cores. */
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
	/* Windows promises no memory that it does not have: what may still be committed is a limit too.
	 */
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

uint64_t os_resident_bytes(void)
{
	return memory_counters().WorkingSetSize;
}

uint64_t os_peak_resident_bytes(void)
{
	return memory_counters().PeakWorkingSetSize;
}

void os_release_memory(void)
{
	(void)HeapCompact(GetProcessHeap(), 0);
}

/* Windows has them for accounts with the right to lock memory only. */
void os_prefer_large_pages(void *memory, size_t size)
{
	(void)memory;
	(void)size;
}

/* ---- environment and folders */

static wchar_t *wide_variable(const wchar_t *name)
{
	enum { MOST = 32768 }; /* the system's own limit for a value, NUL included */
	wchar_t *value = mem_array(NULL, MOST, sizeof *value);
	DWORD length;

	if (!value)
		return NULL;
	SetLastError(ERROR_SUCCESS);
	length = GetEnvironmentVariableW(name, value, MOST);
	if (length >= MOST || (!length && GetLastError() == ERROR_ENVVAR_NOT_FOUND)) {
		mem_free(value);
		return NULL;
	}
	return value;
}

char *os_env(const char *name)
{
	wchar_t *wide = win32_wide(NULL, name), *value = wide ? wide_variable(wide) : NULL;
	char *utf8 = value ? win32_utf8(NULL, value) : NULL;

	mem_free(value);
	mem_free(wide);
	return utf8;
}

int os_env_set(struct jw_error *err, const char *name, const char *value)
{
	wchar_t *wide_name = win32_wide(err, name), *wide_value = value ? win32_wide(err, value) : NULL;
	int result = -1;

	if (!wide_name || (value && !wide_value))
		goto done;
	/* The C library keeps a copy of its own, which libraries that share it read. It cannot hold an
	 * empty value; the system can. */
	if (_wputenv_s(wide_name, wide_value ? wide_value : L"") ||
		(!SetEnvironmentVariableW(wide_name, wide_value) && value)) {
		win32_error(err, name);
		goto done;
	}
	result = 0;
done:
	mem_free(wide_name);
	mem_free(wide_value);
	return result;
}

/* A folder that an environment variable names, else one that the system knows. */
static int known_folder(struct jw_error *err, const char *variable, const KNOWNFOLDERID *id,
						char **ret_path)
{
	char *path = os_env(variable);
	wchar_t *wide = NULL;

	if (path && os_is_absolute(path)) {
		*ret_path = path;
		return 0;
	}
	mem_free(path);
	if (SHGetKnownFolderPath(id, 0, NULL, &wide) != S_OK)
		return error_set(err, JW_ERR_NOT_FOUND, "%%%s%% is not set", variable);
	path = win32_shown(err, wide);
	CoTaskMemFree(wide);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_home_dir(struct jw_error *err, char **ret_path)
{
	return known_folder(err, "USERPROFILE", &FOLDERID_Profile, ret_path);
}

int os_state_dir(struct jw_error *err, char **ret_path)
{
	char *own = os_env("JITWARM_STATE"), *base = NULL, *path;

	if (own && *own) {
		*ret_path = own;
		return 0;
	}
	mem_free(own);
	if (known_folder(err, "LOCALAPPDATA", &FOLDERID_LocalAppData, &base))
		return -1;
	path = os_join(err, base, "jitwarm");
	mem_free(base);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_driver_cache_dir(struct jw_error *err, const char *home, char **ret_path)
{
	char *base = NULL, *path;

	if (home)
		base = os_join(err, home, "AppData\\Roaming");
	else if (known_folder(err, "APPDATA", &FOLDERID_RoamingAppData, &base))
		return -1;
	path = base ? os_join(err, base, "NVIDIA\\ComputeCache") : NULL;
	mem_free(base);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

int os_self_path(struct jw_error *err, char **ret_path)
{
	wchar_t *wide = mem_array(err, WIN32_MOST_PATH, sizeof *wide);
	char *path = NULL;

	if (wide && !GetModuleFileNameW(NULL, wide, WIN32_MOST_PATH))
		win32_error(err, "our own program");
	else if (wide)
		path = win32_shown(err, wide);
	mem_free(wide);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

/* ---- who we are */

union token_user {
	TOKEN_USER user;
	BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
};

static bool own_user(union token_user *ret_user)
{
	DWORD size = 0;
	HANDLE token;
	bool result;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
		return false;
	result = GetTokenInformation(token, TokenUser, ret_user, sizeof *ret_user, &size) != 0;
	(void)CloseHandle(token);
	return result;
}

/* An administrator's programs see the same folders whether elevated or not; the one account whose
 * cache is never the user's is LocalSystem, as which services and tasks may run. */
static bool is_local_system(void)
{
	union token_user user;

	return own_user(&user) && IsWellKnownSid(user.user.User.Sid, WinLocalSystemSid);
}

int os_account_id(struct jw_error *err, char **ret_id)
{
	union token_user user;
	wchar_t *wide;
	char *id;

	if (!own_user(&user) || !ConvertSidToStringSidW(user.user.User.Sid, &wide))
		return win32_error(err, "this account");
	id = win32_utf8(err, wide);
	(void)LocalFree(wide);
	if (!id)
		return -1;
	*ret_id = id;
	return 0;
}

int os_account(struct jw_error *err, struct os_account *ret_account)
{
	(void)err;
	*ret_account = (struct os_account){.superuser = is_local_system()};
	return 0;
}

int os_become_sudo_user(struct jw_error *err, const struct os_account *account)
{
	(void)account;
	return error_set(err, JW_ERR_UNSUPPORTED, "there is no sudo on Windows");
}

void os_account_free(struct os_account *account)
{
	mem_free(account->sudo_user);
	mem_free(account->sudo_home);
	*account = (struct os_account){0};
}

int os_act_as(struct jw_error *err, uint32_t owner, uint32_t group)
{
	(void)owner;
	(void)group;
	return error_set(err, JW_ERR_UNSUPPORTED, "acting as another account");
}

void os_act_as_self(void)
{
	(void)RevertToSelf();
}
