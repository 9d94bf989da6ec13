#include <string.h>
#include <windows.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/win32/opening.h"
#include "os/win32/win32.h"

/* After windows.h, whose types they need */
#include <knownfolders.h>
#include <psapi.h>
#include <shellapi.h>
#include <shlobj.h>

enum { MAX_COMMAND_LINE = 32767 };

/* Names the program by its absolute path, so that CreateProcess does not search for it. */
static wchar_t *command_line(struct jw_error *err, const char *const *arguments)
{
	struct buf line = BUF_MAX(MAX_COMMAND_LINE);
	wchar_t *wide = NULL;

	if (!os_is_whole_path(*arguments)) {
		error_set(err, JW_ERR_USAGE, "%s: name the whole path of the program", *arguments);
		return NULL;
	}
	for (; *arguments; arguments++)
		if (quote_windows(err, &line, *arguments))
			goto done;
	wide = win32_wide(err, buf_text(&line));
done:
	buf_free(&line);
	return wide;
}

/* Makes a job object whose processes end when its last handle closes, and have at most so much
 * memory unless that is 0; this process holds the only handle. */
static HANDLE new_job(uint64_t most_bytes)
{
	JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
													   JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
	HANDLE job = CreateJobObjectW(NULL, NULL);

	if (most_bytes) {
		limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_MEMORY;
		limits.ProcessMemoryLimit = (SIZE_T)most_bytes;
	}
	if (job)
		(void)SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
									  sizeof limits);
	return job;
}

static HANDLE open_nothing(void)
{
	SECURITY_ATTRIBUTES security = {.nLength = sizeof security, .bInheritHandle = TRUE};

	return CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &security,
					   OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}

/* Empties the file and makes it inheritable. */
static HANDLE open_output(struct jw_error *err, const char *output)
{
	HANDLE out = win32_open(err, output, GENERIC_WRITE, OPENING_FILE);

	if (out == INVALID_HANDLE_VALUE ||
		(SetEndOfFile(out) && SetHandleInformation(out, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT)))
		return out;
	(void)win32_error(err, output);
	(void)CloseHandle(out);
	return INVALID_HANDLE_VALUE;
}

/* Converts units of 100 ns. Source: GetProcessTimes. */
static double milliseconds(const FILETIME *time)
{
	return (double)((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime) / 10000;
}

static double cpu_ms_of(HANDLE process)
{
	FILETIME created, ended, kernel, user;

	return GetProcessTimes(process, &created, &ended, &kernel, &user)
			   ? milliseconds(&kernel) + milliseconds(&user)
			   : 0;
}

static void await_process(HANDLE process, struct os_ended *ret_ended)
{
	PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
	DWORD status = 0;

	(void)WaitForSingleObject(process, INFINITE);
	(void)GetExitCodeProcess(process, &status);
	if (!GetProcessMemoryInfo(process, &counters, sizeof counters))
		counters.PeakWorkingSetSize = 0;
	*ret_ended = (struct os_ended){.status = (int)status,
								   .peak_bytes = counters.PeakWorkingSetSize,
								   .cpu_ms = cpu_ms_of(process)};
}

static int start(struct jw_error *err, const char *name, wchar_t *line, const wchar_t *folder,
				 HANDLE in, HANDLE out, struct os_ended *ret_ended)
{
	STARTUPINFOW setup = {.cb = sizeof setup,
						  .dwFlags = STARTF_USESTDHANDLES,
						  .hStdInput = in,
						  .hStdOutput = out,
						  .hStdError = out};
	PROCESS_INFORMATION process;
	HANDLE job = new_job(0);

	if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, CREATE_NO_WINDOW | CREATE_SUSPENDED, NULL,
						folder, &setup, &process)) {
		win32_error(err, name);
		if (job)
			(void)CloseHandle(job);
		return -1;
	}
	if (job)
		(void)AssignProcessToJobObject(job, process.hProcess);
	(void)ResumeThread(process.hThread);
	await_process(process.hProcess, ret_ended);
	(void)CloseHandle(process.hThread);
	(void)CloseHandle(process.hProcess);
	if (job)
		(void)CloseHandle(job);
	return 0;
}

int os_become_program(struct jw_error *err, const char *const *arguments)
{
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: not on Windows", arguments[0]);
}

int os_run(struct jw_error *err, const char *const *arguments, char **environment,
		   const char *folder, const char *output, struct os_ended *ret_ended)
{
	wchar_t *line = command_line(err, arguments), *wide = NULL;
	HANDLE in, out;
	int result = -1;

	(void)environment;
	if (!line)
		return -1;
	in = open_nothing();
	out = open_output(err, output);
	if (out != INVALID_HANDLE_VALUE && (!folder || (wide = win32_plain_path(err, folder))))
		result = start(err, arguments[0], line, wide, in, out, ret_ended);
	if (out != INVALID_HANDLE_VALUE)
		(void)CloseHandle(out);
	if (in != INVALID_HANDLE_VALUE)
		(void)CloseHandle(in);
	mem_free(wide);
	mem_free(line);
	return result;
}

/* The job object's handle stays open until this process ends, and the other one with it. */
void os_limit_memory(int pid, uint64_t most_bytes)
{
	HANDLE process = OpenProcess(PROCESS_SET_QUOTA | PROCESS_TERMINATE, FALSE, (DWORD)pid),
		   job = process ? new_job(most_bytes) : NULL;

	if (job)
		(void)AssignProcessToJobObject(job, process);
	if (process)
		(void)CloseHandle(process);
}

/* libuv puts every process that it starts into a job object, whose only handle the parent holds. */
void os_die_with_parent(void)
{
}

/* Ends the process at once. The system's own filter looks for a debugger first, and Wine's ends
 * only the thread whose stack has overflowed. */
static LONG WINAPI end_at_once(EXCEPTION_POINTERS *fault)
{
	(void)TerminateProcess(GetCurrentProcess(), fault->ExceptionRecord->ExceptionCode);
	return EXCEPTION_EXECUTE_HANDLER;
}

void os_end_now(int status)
{
	(void)TerminateProcess(GetCurrentProcess(), (UINT)status);
}

void os_guard_new_files(void)
{
}

void os_hear_children(void)
{
}

void os_crash_quietly(void)
{
	ULONG room_for_filter = 64 << 10;

	(void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
	(void)SetThreadStackGuarantee(&room_for_filter);
	(void)SetUnhandledExceptionFilter(end_at_once);
}

char *os_system_program(struct jw_error *err, const char *name)
{
	wchar_t wide[MAX_PATH];
	UINT length = GetSystemDirectoryW(wide, MAX_PATH);
	char *folder, *path;

	if (!length || length >= MAX_PATH) {
		(void)win32_error(err, name);
		return NULL;
	}
	folder = win32_shown(err, wide);
	path = folder ? os_join(folder, name) : NULL;
	mem_free(folder);
	return path;
}

char *os_system_text(const char *printed)
{
	const int units = MultiByteToWideChar(CP_OEMCP, 0, printed, -1, NULL, 0);
	wchar_t *wide = mem_array((size_t)units + 1, sizeof *wide);
	char *text;

	(void)MultiByteToWideChar(CP_OEMCP, 0, printed, -1, wide, units);
	text = win32_utf8(NULL, wide);
	mem_free(wide);
	return text;
}

bool os_is_whole_path(const char *path)
{
	return os_is_absolute(path) && os_root_length(path) > 1;
}

static bool is_file(const char *path)
{
	struct os_stat stat;

	return !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR;
}

/* Returns the path of the file in this folder; NULL if there is none. */
static char *program_in(const char *folder, const char *name)
{
	static const char *const endings[] = {"", ".exe", ".com"};
	const bool has_ending = strchr(name, '.') != NULL;

	for (size_t i = has_ending ? 0 : 1; i < sizeof endings / sizeof *endings; i++) {
		char *path = mem_printf("%s\\%s%s", folder, name, endings[i]);

		if (is_file(path))
			return path;
		mem_free(path);
	}
	return NULL;
}

char *os_find_program(struct jw_error *err, const char *name)
{
	char *list, *found = NULL;

	if (os_base_name(name) != name)
		return mem_string(name);
	list = os_env("PATH");
	for (char *at = list; at && !found;) {
		char *end = strchr(at, os_list_separator);

		if (end)
			*end = '\0';
		if (os_is_whole_path(at))
			found = program_in(at, name);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	if (!found)
		error_set(err, JW_ERR_NOT_FOUND,
				  "%s: no such program on PATH; name one in the current folder as .\\%s", name,
				  name);
	return found;
}

char *os_cuda_toolkit(unsigned major, unsigned minor)
{
	wchar_t *wide = NULL;
	char *base = NULL, *path = NULL;

	if (major && SHGetKnownFolderPath(&FOLDERID_ProgramFiles, 0, NULL, &wide) == S_OK)
		base = win32_shown(NULL, wide);
	CoTaskMemFree(wide);
	if (base)
		path = mem_printf("%s\\NVIDIA GPU Computing Toolkit\\CUDA\\v%u.%u", base, major, minor);
	mem_free(base);
	return path;
}

/* Reads the command line. Windows' shells leave patterns to the program: "scan *.dll" arrives as
 * typed. */

enum { MAX_ARGUMENTS = 1 << 20 };

struct arguments {
	char **items; /* as argv: NULL at the end */
	size_t count, capacity;
};

/* Adds an argument and takes ownership of it. */
static int add_argument(struct arguments *arguments, char *text)
{
	if (!text || VEC_ROOM(NULL, arguments->items, arguments->capacity, arguments->count + 1,
						  MAX_ARGUMENTS)) {
		mem_free(text);
		return -1;
	}
	arguments->items[arguments->count++] = text;
	arguments->items[arguments->count] = NULL;
	return 0;
}

/* Returns whether only the last part of a path is a pattern. File names cannot contain these
 * characters; "/?" asks for help. */
static bool is_pattern(const wchar_t *text)
{
	const wchar_t *wild = wcspbrk(text, L"*?");

	return text[0] != L'-' && wcscmp(text, L"/?") != 0 && wild && !wcspbrk(wild, L"\\/") &&
		   wcsncmp(text, L"\\\\?\\", 4) != 0;
}

static int add_match(struct arguments *arguments, const wchar_t *pattern, const wchar_t *name)
{
	size_t folder = wcslen(pattern);
	wchar_t *path;
	int result;

	while (folder && !wcschr(L"\\/:", pattern[folder - 1]))
		folder--;
	path = mem_array(folder + wcslen(name) + 1, sizeof *path);
	memcpy(path, pattern, folder * sizeof *path);
	memcpy(path + folder, name, wcslen(name) * sizeof *path);
	result = add_argument(arguments, win32_utf8(NULL, path));
	mem_free(path);
	return result;
}

/* Adds the files that match a pattern; if none does, adds the pattern itself, for the message. */
static int add_expanded(struct arguments *arguments, const wchar_t *text)
{
	WIN32_FIND_DATAW entry;
	HANDLE search = is_pattern(text) ? FindFirstFileW(text, &entry) : INVALID_HANDLE_VALUE;
	size_t before = arguments->count;
	int result = 0;

	if (search != INVALID_HANDLE_VALUE) {
		do {
			if (wcscmp(entry.cFileName, L".") != 0 && wcscmp(entry.cFileName, L"..") != 0)
				result = add_match(arguments, text, entry.cFileName);
		} while (!result && FindNextFileW(search, &entry));
		(void)FindClose(search);
	}
	if (!result && arguments->count == before)
		result = add_argument(arguments, win32_utf8(NULL, text));
	return result;
}

char **os_arguments(int *argc, char **argv, const char *kept)
{
	struct arguments arguments = {0};
	int count = 0, result = 0;
	wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);

	for (int i = 0; wide && !result && i < count; i++)
		result = i && strcmp(arguments.items[arguments.count - 1], kept) != 0
					 ? add_expanded(&arguments, wide[i])
					 : add_argument(&arguments, win32_utf8(NULL, wide[i]));
	if (wide)
		(void)LocalFree(wide);
	/* If the arguments cannot be read, the C library's argv is used. */
	if (result || !arguments.count)
		return argv;
	*argc = (int)arguments.count;
	return arguments.items;
}

/* Does nothing: the console notifies every process that is attached to it. */
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

static volatile LONG interrupted;

/* Runs in a separate thread. Returning TRUE keeps the process running after Ctrl-C and Ctrl-Break.
 * When the console is closed, or the user logs off, the process ends as soon as this function
 * returns, at the latest after five seconds; so it waits for the program to end by itself. */
static BOOL WINAPI note_console_event(DWORD event)
{
	enum { LONGER_THAN_WE_ARE_GIVEN_MS = 10000 };

	if (InterlockedExchange(&interrupted, 1) &&
		(event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT))
		return FALSE; /* the second request ends the process */
	if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
		Sleep(LONGER_THAN_WE_ARE_GIVEN_MS);
	return TRUE;
}

void os_catch_interrupts(void)
{
	(void)SetConsoleCtrlHandler(note_console_event, TRUE);
}

bool os_interrupted(void)
{
	return interrupted != 0;
}

int os_interrupt_status(void)
{
	return interrupted ? 130 : 0;
}

static BOOL WINAPI ignore(DWORD event)
{
	return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

void os_ignore_interrupts(void)
{
	(void)SetConsoleCtrlHandler(ignore, TRUE);
}

/* Windows has no such signal. */
int os_stop_signal(void)
{
	return 0;
}

void os_stop_self(void)
{
}

void os_pause_process(int pid, bool paused)
{
	(void)pid;
	(void)paused;
}

void os_ignore_broken_pipes(void)
{
}
