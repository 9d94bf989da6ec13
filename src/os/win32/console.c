#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* In pieces that a console takes at once, none of which ends within a character. */
static void write_wide(HANDLE console, const wchar_t *text, size_t units)
{
	enum { MOST_STEP = 8192 };

	while (units) {
		size_t step = units < MOST_STEP ? units : MOST_STEP;
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

enum { MOST_TYPED = 1024 };

static HANDLE open_console(const wchar_t *name)
{
	return CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
					   OPEN_EXISTING, 0, NULL);
}

static int ask_console(struct jw_error *err, HANDLE in, HANDLE out, const char *question,
					   char *ret_line, size_t size)
{
	wchar_t line[MOST_TYPED + 1];
	wchar_t *wide = win32_wide(err, question);
	DWORD mode, count = 0;
	char *text;
	BOOL read;

	if (!wide || !GetConsoleMode(in, &mode)) {
		mem_free(wide);
		return error_set(err, JW_ERR_NOT_FOUND, "no terminal to ask on");
	}
	(void)WriteConsoleW(out, wide, (DWORD)wcslen(wide), NULL, NULL);
	mem_free(wide);
	(void)SetConsoleMode(in, (mode | ENABLE_LINE_INPUT) & ~(DWORD)ENABLE_ECHO_INPUT);
	read = ReadConsoleW(in, line, MOST_TYPED, &count, NULL);
	(void)SetConsoleMode(in, mode);
	(void)WriteConsoleW(out, L"\r\n", 2, NULL, NULL);
	if (!read || !count)
		return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
	while (count && (line[count - 1] == L'\n' || line[count - 1] == L'\r'))
		count--;
	line[count] = L'\0';
	text = win32_utf8(err, line);
	SecureZeroMemory(line, sizeof line);
	if (!text)
		return -1;
	text_copy(ret_line, size, text);
	SecureZeroMemory(text, strlen(text));
	mem_free(text);
	return 0;
}

int os_ask_secret(struct jw_error *err, const char *question, char *ret_line, size_t size)
{
	HANDLE in = open_console(L"CONIN$"), out = open_console(L"CONOUT$");
	int result;

	if (in == INVALID_HANDLE_VALUE || out == INVALID_HANDLE_VALUE)
		result = error_set(err, JW_ERR_NOT_FOUND, "no terminal to ask on");
	else
		result = ask_console(err, in, out, question, ret_line, size);
	if (in != INVALID_HANDLE_VALUE)
		(void)CloseHandle(in);
	if (out != INVALID_HANDLE_VALUE)
		(void)CloseHandle(out);
	return result;
}

/* The C runtime does so: a standard descriptor without a handle stays taken. */
void os_keep_standard_descriptors(void)
{
}

bool os_fd_takes(int fd, int wait_ms)
{
	(void)fd;
	(void)wait_ms;
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
