#include "os/file.h"

#include "base/text.h"
#include "os/processes.h"
#include "os/win32/opening.h"

static bool is_in_use(DWORD error)
{
	return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
}

static void say_who(struct jw_error *err, const char *path)
{
	struct os_program program;
	char before[sizeof err->message];

	if (!err || !win32_user_of(path, &program))
		return;
	TEXT_COPY(before, err->message);
	(void)error_set(err, err->code, "%.800s (%s, process %d, has it open)", before,
					*program.name ? program.name : "a program", program.pid);
}

/* Virus scanners and indexers briefly open a file that was just written. */
static bool wait_for_others(size_t tries)
{
	static const DWORD waits_ms[] = {1, 5, 20, 50, 100, 200};

	if (tries == sizeof waits_ms / sizeof *waits_ms)
		return false;
	Sleep(waits_ms[tries]);
	return true;
}

/* -1 with GetLastError() set. */
static int rename_at(const struct win32_at *source, const struct win32_at *target)
{
	HANDLE file = win32_open_at(source, DELETE, SHARE_ALL, OPENING_LINK);
	int result;

	if (file == INVALID_HANDLE_VALUE)
		return -1;
	result = win32_rename_to(file, target);
	win32_close(file);
	return result;
}

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	struct win32_at source, target;
	int result;

	if (win32_enter(err, from, false, &source))
		return -1;
	if (win32_enter(err, to, false, &target)) {
		win32_leave(&source);
		return -1;
	}
	for (size_t tries = 0; (result = rename_at(&source, &target)) && is_in_use(GetLastError());)
		if (!wait_for_others(tries++))
			break;
	win32_leave(&source);
	win32_leave(&target);
	if (result) {
		const bool in_use = is_in_use(GetLastError());

		win32_error(err, to);
		if (in_use)
			say_who(err, to);
	}
	return result;
}

struct os_file *os_file_take(const char *from, const char *to)
{
	(void)from;
	(void)to;
	return NULL;
}
