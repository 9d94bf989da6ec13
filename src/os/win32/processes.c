#include "os/processes.h"

#include "base/mem.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <psapi.h>
#include <tlhelp32.h>

enum { MAX_FAMILY = 4096, MAX_MODULES = 4096 };

struct member {
	DWORD pid;
	uint64_t born;
};

struct tour {
	int (*take)(struct jw_error *err, void *context, const char *path, bool replaced);
	void *context;
	struct member *family;
	size_t count;
	HMODULE *modules;
	wchar_t *path;
};

/* Returns the time of creation in the system's units; 0 if unknown. */
static uint64_t born(DWORD pid)
{
	HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
	FILETIME created = {0}, ended, kernel, user;

	if (!process)
		return 0;
	if (!GetProcessTimes(process, &created, &ended, &kernel, &user))
		created = (FILETIME){0};
	(void)CloseHandle(process);
	return win32_u64(created.dwHighDateTime, created.dwLowDateTime);
}

static const struct member *find_process(const struct tour *tour, DWORD pid)
{
	for (size_t i = 0; i < tour->count; i++)
		if (tour->family[i].pid == pid)
			return &tour->family[i];
	return NULL;
}

/* A process keeps the number of a parent that has ended, and another process may have that number
 * now. No child is older than its parent. */
static bool add_child(struct tour *tour, const PROCESSENTRY32W *entry)
{
	const struct member *parent = find_process(tour, entry->th32ParentProcessID);
	struct member child = {.pid = entry->th32ProcessID};

	if (!parent || find_process(tour, child.pid) || tour->count == MAX_FAMILY)
		return false;
	child.born = born(child.pid);
	if (child.born < parent->born)
		return false;
	tour->family[tour->count++] = child;
	return true;
}

/* Repeats the pass until it finds no more processes, because children may be listed before their
 * parents. */
static int find_family(struct jw_error *err, struct tour *tour)
{
	HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
	PROCESSENTRY32W entry = {.dwSize = sizeof entry};

	if (snapshot == INVALID_HANDLE_VALUE)
		return win32_error(err, "processes");
	for (bool grew = true; grew;) {
		grew = false;
		for (BOOL more = Process32FirstW(snapshot, &entry); more;
			 more = Process32NextW(snapshot, &entry))
			grew = add_child(tour, &entry) || grew;
	}
	(void)CloseHandle(snapshot);
	return 0;
}

static int take_module(struct jw_error *err, const struct tour *tour, HANDLE process,
					   HMODULE module)
{
	char *path;
	int result;

	if (!K32GetModuleFileNameExW(process, module, tour->path, WIN32_MAX_PATH))
		return 0;
	path = win32_shown(err, tour->path);
	if (!path)
		return -1;
	result = tour->take(err, tour->context, path, false);
	mem_free(path);
	return result;
}

/* Takes the modules of a process; a process that begins or ends meanwhile, or may not be inspected,
 * has none. */
static int take_modules(struct jw_error *err, const struct tour *tour, DWORD pid)
{
	HANDLE process = OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, pid);
	DWORD bytes = 0;
	int result = 0;

	if (!process)
		return 0;
	if (!K32EnumProcessModulesEx(process, tour->modules, MAX_MODULES * sizeof *tour->modules,
								 &bytes, LIST_MODULES_ALL))
		bytes = 0;
	for (size_t i = 0; !result && i < bytes / sizeof *tour->modules && i < MAX_MODULES; i++)
		result = take_module(err, tour, process, tour->modules[i]);
	(void)CloseHandle(process);
	return result;
}

int os_mapped_code(struct jw_error *err, int pid,
				   int (*take)(struct jw_error *err, void *context, const char *path,
							   bool replaced),
				   void *context)
{
	struct tour tour = {
		.take = take,
		.context = context,
		.family = mem_array(MAX_FAMILY, sizeof *tour.family),
		.modules = mem_array(MAX_MODULES, sizeof(HMODULE)),
		.path = mem_array(WIN32_MAX_PATH, sizeof *tour.path),
	};
	int result = -1;

	if (!tour.family || !tour.modules || !tour.path)
		goto done;
	tour.family[tour.count++] = (struct member){.pid = (DWORD)pid, .born = born((DWORD)pid)};
	result = find_family(err, &tour);
	for (size_t i = 0; !result && i < tour.count; i++)
		result = take_modules(err, &tour, tour.family[i].pid);
done:
	mem_free(tour.family);
	mem_free(tour.modules);
	mem_free(tour.path);
	return result;
}

/* Does nothing: the name is that of a process whose settings could be read, and Windows shows
 * none. */
void os_program_name(int pid, char *name, size_t size)
{
	(void)pid;
	(void)size;
	name[0] = '\0';
}

int os_process_owner(struct jw_error *err, int pid, uint32_t *ret_owner)
{
	(void)ret_owner;
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "process %d: Windows does not show another process's settings", pid);
}

int os_process_variables(struct jw_error *err, int pid,
						 int (*take)(struct jw_error *err, void *context, const char *name,
									 const char *value),
						 void *context)
{
	uint32_t owner;

	(void)take;
	(void)context;
	return os_process_owner(err, pid, &owner);
}

int os_process_folder(struct jw_error *err, int pid, char **ret_path)
{
	uint32_t owner;

	(void)ret_path;
	return os_process_owner(err, pid, &owner);
}

int os_process_used(struct jw_error *err, int pid, struct os_process_use *ret_use)
{
	uint32_t owner;

	(void)ret_use;
	return os_process_owner(err, pid, &owner);
}
