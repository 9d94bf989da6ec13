#include "os/processes.h"

#include "base/mem.h"
#include "os/library.h"
#include "os/open_file.h"
#include "os/win32/win32.h"

/* After windows.h, whose types it needs */
#include <restartmanager.h>

/* Source: Microsoft, "Restart Manager". Loaded on demand: little else needs it. */
struct manager {
	DWORD(WINAPI *start)(DWORD *session, DWORD flags, WCHAR *key);
	DWORD(WINAPI *enter)
	(DWORD session, UINT files, LPCWSTR *names, UINT processes, RM_UNIQUE_PROCESS *ids,
	 UINT services, LPCWSTR *service_names);
	DWORD(WINAPI *list)
	(DWORD session, UINT *needed, UINT *count, RM_PROCESS_INFO *found, DWORD *reasons);
	DWORD(WINAPI *end)(DWORD session);
};

static bool ask_manager(const struct manager *manager, const wchar_t *path,
						struct os_program *ret_program)
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
		has = os_library_function(library, "RmStartSession", &manager.start) &&
			  os_library_function(library, "RmRegisterResources", &manager.enter) &&
			  os_library_function(library, "RmGetList", &manager.list) &&
			  os_library_function(library, "RmEndSession", &manager.end) &&
			  ask_manager(&manager, wide, ret_program);
	os_library_close(library);
	mem_free(wide);
	return has;
}

bool os_file_user(struct os_file *file, struct os_program *ret_program)
{
	return win32_user_of(file->path, ret_program);
}
