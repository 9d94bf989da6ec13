#include "os/processes.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/library.h"
#include "os/win32/win32.h"

/* need windows.h before them */
#include <psapi.h>
#include <restartmanager.h>

/* The console tells every process that is attached to it. */
static BOOL WINAPI leave_it(DWORD event)
{
	return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

/* There is nothing that could be passed on. */
void os_hold_signals(void)
{
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

static void name_of_handle(HANDLE process, char *name, size_t size)
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
			name_of_handle(process, programs[count].name, sizeof programs[count].name);
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

void os_program_name(int pid, char *name, size_t size)
{
	HANDLE process = OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, (DWORD)pid);

	name[0] = '\0';
	if (!process)
		return;
	name_of_handle(process, name, size);
	(void)CloseHandle(process);
}

/* ---- who has a file open */

/* Source: Microsoft, "Restart Manager". Loaded when it is wanted: little else needs it. */
struct manager {
	DWORD(WINAPI *start)(DWORD *session, DWORD flags, WCHAR *key);
	DWORD(WINAPI *enter)
	(DWORD session, UINT files, LPCWSTR *names, UINT processes, RM_UNIQUE_PROCESS *ids,
	 UINT services, LPCWSTR *service_names);
	DWORD(WINAPI *list)
	(DWORD session, UINT *needed, UINT *count, RM_PROCESS_INFO *found, DWORD *reasons);
	DWORD(WINAPI *end)(DWORD session);
};

static bool load(struct os_library *library, const char *name, void *slot)
{
	void (*function)(void) = os_library_function(library, name);

	memcpy(slot, &function, sizeof function);
	return function != NULL;
}

static bool ask(const struct manager *manager, const wchar_t *path, struct os_program *ret_program)
{
	enum { MOST_USERS = 16 };
	RM_PROCESS_INFO found[MOST_USERS];
	WCHAR key[CCH_RM_SESSION_KEY + 1] = {0};
	UINT needed = 0, count = MOST_USERS;
	DWORD session, reasons, status;
	bool has = false;

	if (manager->start(&session, 0, key))
		return false;
	status = manager->enter(session, 1, &path, 0, NULL, 0, NULL);
	if (!status)
		status = manager->list(session, &needed, &count, found, &reasons);
	(void)manager->end(session);
	for (UINT i = 0; !has && !status && i < count && i < MOST_USERS; i++) {
		if (found[i].Process.dwProcessId == GetCurrentProcessId())
			continue;
		*ret_program = (struct os_program){.pid = (int)found[i].Process.dwProcessId};
		os_program_name(ret_program->pid, ret_program->name, sizeof ret_program->name);
		has = true;
	}
	return has;
}

bool win32_user_of(const char *path, struct os_program *ret_program)
{
	wchar_t *wide = win32_plain_path(NULL, path);
	struct os_library *library = NULL;
	struct manager manager;
	bool has = false;

	if (wide && !os_library_open(NULL, "rstrtmgr.dll", &library))
		has = load(library, "RmStartSession", &manager.start) &&
			  load(library, "RmRegisterResources", &manager.enter) &&
			  load(library, "RmGetList", &manager.list) &&
			  load(library, "RmEndSession", &manager.end) && ask(&manager, wide, ret_program);
	os_library_close(library);
	mem_free(wide);
	return has;
}
