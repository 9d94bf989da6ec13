#include "os/processes.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/win32/win32.h"

/* needs windows.h before it */
#include <psapi.h>

int os_mapped_code(struct jw_error *err, int pid,
				   int (*take)(struct jw_error *err, void *context, const char *path),
				   void *context)
{
	(void)pid;
	(void)take;
	(void)context;
	return error_set(err, JW_ERR_UNSUPPORTED, "Windows is not asked what a process has mapped");
}

/* The console tells every process that is attached to it. */
static BOOL WINAPI leave_it(DWORD event)
{
	return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

void os_forward_signals(int pid)
{
	(void)SetConsoleCtrlHandler(leave_it, pid > 0);
}

/* ---- who has a library loaded */

enum { MOST_PROCESSES = 16384, MOST_MODULES = 4096, MOST_NAME = 260 };

static bool has_module(HANDLE process, const wchar_t *start, HMODULE *modules)
{
	wchar_t name[MOST_NAME];
	DWORD bytes = 0;

	if (!K32EnumProcessModulesEx(process, modules, MOST_MODULES * sizeof *modules, &bytes,
								 LIST_MODULES_ALL))
		return false;
	for (size_t i = 0; i < bytes / sizeof *modules && i < MOST_MODULES; i++)
		if (K32GetModuleBaseNameW(process, modules[i], name, MOST_NAME) &&
			!_wcsnicmp(name, start, wcslen(start)))
			return true;
	return false;
}

static void name_of(HANDLE process, char *name, size_t size)
{
	wchar_t wide[MOST_NAME];
	char *utf8;

	name[0] = '\0';
	if (!K32GetModuleBaseNameW(process, NULL, wide, MOST_NAME))
		return;
	utf8 = win32_utf8(NULL, wide);
	if (utf8)
		text_copy(name, size, utf8);
	mem_free(utf8);
}

int os_programs_with(struct jw_error *err, const char *start, struct os_program *programs,
					 size_t most, size_t *ret_count)
{
	wchar_t *wide = win32_wide(err, start);
	DWORD *ids = mem_array(err, MOST_PROCESSES, sizeof *ids), bytes = 0;
	HMODULE *modules = mem_array(err, MOST_MODULES, sizeof(HMODULE));
	size_t count = 0;
	int result = -1;

	if (!wide || !ids || !modules)
		goto done;
	if (!K32EnumProcesses(ids, MOST_PROCESSES * sizeof *ids, &bytes)) {
		win32_error(err, "processes");
		goto done;
	}
	for (size_t i = 0; i < bytes / sizeof *ids && count < most; i++) {
		HANDLE process;

		if (ids[i] == GetCurrentProcessId())
			continue;
		process = OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, ids[i]);
		if (!process)
			continue;
		if (has_module(process, wide, modules)) {
			programs[count].pid = (int)ids[i];
			name_of(process, programs[count].name, sizeof programs[count].name);
			count++;
		}
		(void)CloseHandle(process);
	}
	*ret_count = count;
	result = 0;
done:
	mem_free(modules);
	mem_free(ids);
	mem_free(wide);
	return result;
}
