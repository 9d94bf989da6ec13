#include "os/process.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/programs.h"
#include "os/quote.h"
#include "os/win32/opening.h"

/* needs windows.h before it */
#include <psapi.h>

enum { MOST_COMMAND_LINE = 32767 };

/* The program is named by its whole path, so that CreateProcess looks for it nowhere. */
static wchar_t *command_line(struct jw_error *err, const char *const *arguments)
{
	struct buf line = BUF_MAX(MOST_COMMAND_LINE);
	wchar_t *wide = NULL;

	if (!os_is_whole_path(*arguments)) {
		error_set(err, JW_ERR_USAGE, "%s: a program is started by its whole path", *arguments);
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

/* A job object whose processes end when its last handle closes; we hold the only one. */
static HANDLE new_job(void)
{
	JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
													   JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
	HANDLE job = CreateJobObjectW(NULL, NULL);

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

/* The file is emptied, and inherited by programs. */
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

/* In units of 100 ns. Source: GetProcessTimes. */
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

static int start(struct jw_error *err, const char *name, wchar_t *line, HANDLE in, HANDLE out,
				 struct os_ended *ret_ended)
{
	STARTUPINFOW setup = {.cb = sizeof setup,
						  .dwFlags = STARTF_USESTDHANDLES,
						  .hStdInput = in,
						  .hStdOutput = out,
						  .hStdError = out};
	PROCESS_INFORMATION process;
	HANDLE job = new_job();

	if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, CREATE_NO_WINDOW | CREATE_SUSPENDED, NULL,
						NULL, &setup, &process)) {
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

int os_run(struct jw_error *err, const char *const *arguments, const char *output,
		   struct os_ended *ret_ended)
{
	wchar_t *line = command_line(err, arguments);
	HANDLE in, out;
	int result = -1;

	if (!line)
		return -1;
	in = open_nothing();
	out = open_output(err, output);
	if (out != INVALID_HANDLE_VALUE)
		result = start(err, arguments[0], line, in, out, ret_ended);
	if (out != INVALID_HANDLE_VALUE)
		(void)CloseHandle(out);
	if (in != INVALID_HANDLE_VALUE)
		(void)CloseHandle(in);
	mem_free(line);
	return result;
}

/* libuv puts every process that it starts into a job object, whose only handle the parent holds. */
void os_die_with_parent(void)
{
}

/* The system's own filter looks for a debugger first, and Wine's ends only the thread whose stack
 * has overflowed. */
static LONG WINAPI end_at_once(EXCEPTION_POINTERS *fault)
{
	(void)TerminateProcess(GetCurrentProcess(), fault->ExceptionRecord->ExceptionCode);
	return EXCEPTION_EXECUTE_HANDLER;
}

void os_end_now(int status)
{
	(void)TerminateProcess(GetCurrentProcess(), (UINT)status);
}

void os_crash_quietly(void)
{
	ULONG room_for_filter = 64 << 10;

	(void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
	(void)SetThreadStackGuarantee(&room_for_filter);
	(void)SetUnhandledExceptionFilter(end_at_once);
}
