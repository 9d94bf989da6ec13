#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/console.h"
#include "os/win32/win32.h"

unsigned os_terminal_columns(int fd)
{
	CONSOLE_SCREEN_BUFFER_INFO info;

	if (!GetConsoleScreenBufferInfo(uv_get_osfhandle(fd), &info) ||
		info.srWindow.Right < info.srWindow.Left)
		return 80;
	return (unsigned)(info.srWindow.Right - info.srWindow.Left) + 1;
}

bool os_prints_utf8(void)
{
	return true; /* os_terminal_write converts it */
}

bool os_language(char ret_name[OS_LANGUAGE])
{
	if (PRIMARYLANGID(GetUserDefaultUILanguage()) != LANG_KOREAN)
		return false;
	memcpy(ret_name, "ko", OS_LANGUAGE);
	return true;
}

static void prepare_stream(FILE *stream)
{
	int fd = _fileno(stream);
	HANDLE handle = uv_get_osfhandle(fd);
	DWORD mode;

	/* Output has the same bytes on every system: no carriage returns. */
	(void)_setmode(fd, _O_BINARY);
	if (GetConsoleMode(handle, &mode))
		(void)SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

void os_terminal_prepare(void)
{
	static char buffer[4096];

	/* Unbuffered, stderr would be written byte by byte. The functions that print flush. */
	(void)setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
	prepare_stream(stdout);
	prepare_stream(stderr);
}

/* Writes in pieces that a console accepts at once, none of which ends within a character. */
static void write_wide(HANDLE console, const wchar_t *text, size_t units)
{
	enum { MAX_STEP = 8192 };

	while (units) {
		size_t step = units < MAX_STEP ? units : MAX_STEP;
		DWORD written;

		if (step < units && IS_HIGH_SURROGATE(text[step - 1]))
			step--;
		if (!WriteConsoleW(console, text, (DWORD)step, &written, NULL))
			return;
		text += step;
		units -= step;
	}
}

bool os_terminal_write(int fd, const char *text, size_t size)
{
	HANDLE console = uv_get_osfhandle(fd);
	wchar_t *wide;
	DWORD mode;
	int units;

	if (!size || size > INT_MAX || !GetConsoleMode(console, &mode))
		return false;
	units = MultiByteToWideChar(CP_UTF8, 0, text, (int)size, NULL, 0);
	wide = units > 0 ? mem_array((size_t)units, sizeof *wide) : NULL;
	if (!wide)
		return false;
	(void)MultiByteToWideChar(CP_UTF8, 0, text, (int)size, wide, units);
	write_wide(console, wide, (size_t)units);
	mem_free(wide);
	return true;
}

/* The C runtime already does this: a standard descriptor without a handle stays occupied. */
void os_keep_standard_descriptors(void)
{
}

bool os_fd_takes(int fd, int wait_ms)
{
	(void)fd;
	(void)wait_ms;
	return true;
}

bool os_has_terminal(int fd)
{
	(void)fd;
	return true;
}

int os_take_stdout(struct jw_error *err, int *ret_fd)
{
	int copy;

	(void)fflush(stdout);
	copy = _dup(1);
	if (copy < 0)
		return error_set(err, JW_ERR_IO, "stdout: cannot be duplicated");
	/* Processes that the driver may start must not inherit the pipe. */
	(void)SetHandleInformation(uv_get_osfhandle(copy), HANDLE_FLAG_INHERIT, 0);
	if (_dup2(2, 1) < 0) {
		(void)_close(copy);
		return error_set(err, JW_ERR_IO, "stdout: cannot be redirected");
	}
	(void)SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
	*ret_fd = copy;
	return 0;
}
