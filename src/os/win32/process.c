/* The terminal, standard streams, and how a worker behaves. */
#include "os/system.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/win32/win32.h"

static HANDLE handle_of(int fd)
{
	intptr_t handle = _get_osfhandle(fd);

	/* -2: a standard stream without anything behind it */
	return handle == -2 ? INVALID_HANDLE_VALUE : (HANDLE)handle;
}

bool os_is_terminal(int fd)
{
	DWORD mode;

	return GetConsoleMode(handle_of(fd), &mode) != 0;
}

unsigned os_terminal_columns(int fd)
{
	CONSOLE_SCREEN_BUFFER_INFO info;

	if (!GetConsoleScreenBufferInfo(handle_of(fd), &info) ||
		info.srWindow.Right < info.srWindow.Left)
		return 80;
	return (unsigned)(info.srWindow.Right - info.srWindow.Left) + 1;
}

static UINT code_page_before;

/* The code page belongs to the console, not to us: other programs in it expect their own. */
static void restore_code_page(void)
{
	(void)SetConsoleOutputCP(code_page_before);
}

static void prepare_stream(FILE *stream)
{
	int fd = _fileno(stream);
	HANDLE handle = handle_of(fd);
	DWORD mode;

	/* What we print is the same bytes on every system: no carriage returns. */
	(void)_setmode(fd, _O_BINARY);
	if (GetConsoleMode(handle, &mode))
		(void)SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* Unbuffered, stderr would be written byte by byte, and the console shows a character in UTF-8 only
 * if all its bytes come at once. Whoever prints flushes. */
static void buffer_errors(void)
{
	static char buffer[4096];

	(void)setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
}

void os_terminal_prepare(void)
{
	buffer_errors();
	prepare_stream(stdout);
	prepare_stream(stderr);
	code_page_before = GetConsoleOutputCP();
	if (code_page_before && code_page_before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
		(void)atexit(restore_code_page);
}

int os_take_stdout(struct jw_error *err, int *ret_fd)
{
	int copy;

	(void)fflush(stdout);
	copy = _dup(1);
	if (copy < 0)
		return error_set(err, JW_ERR_IO, "stdout: cannot be duplicated");
	/* Processes that the driver may start must not keep our pipe open. */
	(void)SetHandleInformation(handle_of(copy), HANDLE_FLAG_INHERIT, 0);
	if (_dup2(2, 1) < 0) {
		(void)_close(copy);
		return error_set(err, JW_ERR_IO, "stdout: cannot be redirected");
	}
	(void)SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
	*ret_fd = copy;
	return 0;
}

/* One call transfers at most this much */
enum { MOST_STEP = 1 << 20 };

int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	DWORD step = size > MOST_STEP ? MOST_STEP : (DWORD)size, got = 0;

	if (!ReadFile(handle_of(fd), data, step, &got, NULL)) {
		/* A pipe ends so when its other side is closed. */
		if (GetLastError() != ERROR_BROKEN_PIPE)
			return win32_error(err, "read");
		got = 0;
	}
	*ret_got = got;
	return 0;
}

int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size)
{
	HANDLE handle = handle_of(fd);

	for (size_t done = 0; done < size;) {
		DWORD step = size - done > MOST_STEP ? MOST_STEP : (DWORD)(size - done), put = 0;

		if (!WriteFile(handle, (const uint8_t *)data + done, step, &put, NULL))
			return win32_error(err, "write");
		done += put;
	}
	return 0;
}

/* libuv puts every process that it starts into a job object that ends with its last handle, which
 * the parent holds. */
void os_die_with_parent(void)
{
}

void os_crash_quietly(void)
{
	(void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}
