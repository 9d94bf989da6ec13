#include "os/win32/win32.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

wchar_t *win32_wide(struct jw_error *err, const char *text)
{
	size_t size = strlen(text) + 1;
	wchar_t *wide;
	int units;

	if (size > INT_MAX) {
		error_set(err, JW_ERR_LIMIT, "text of %zu bytes", size);
		return NULL;
	}
	units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, (int)size, NULL, 0);
	if (units <= 0) {
		error_set(err, JW_ERR_USAGE, "%s: not UTF-8", text);
		return NULL;
	}
	wide = mem_array((size_t)units, sizeof *wide);
	(void)MultiByteToWideChar(CP_UTF8, 0, text, (int)size, wide, units);
	return wide;
}

char *win32_utf8(struct jw_error *err, const wchar_t *text)
{
	int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
	char *utf8;

	if (size <= 0) {
		error_set(err, JW_ERR_FORMAT, "a text by the system cannot be read");
		return NULL;
	}
	utf8 = mem_alloc((size_t)size);
	(void)WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, size, NULL, NULL);
	return utf8;
}

/* Returns whether Windows uses `path` unchanged: \\?\... or \\.\... */
static bool is_raw(const wchar_t *path)
{
	return path[0] == L'\\' && path[1] == L'\\' && (path[2] == L'?' || path[2] == L'.') &&
		   path[3] == L'\\';
}

wchar_t *win32_plain_path(struct jw_error *err, const char *path)
{
	wchar_t *wide = win32_wide(err, path), *full = NULL;
	DWORD size;

	if (!wide || is_raw(wide))
		return wide;
	full = mem_array(WIN32_MAX_PATH, sizeof *full);
	size = GetFullPathNameW(wide, WIN32_MAX_PATH, full, NULL);
	if (!size || size >= WIN32_MAX_PATH) {
		error_set(err, size ? JW_ERR_LIMIT : JW_ERR_NOT_FOUND, "%s: %s", path,
				  size ? "File name too long" : "No such file or directory");
		mem_free(full);
		full = NULL;
	}
	mem_free(wide);
	return full;
}

wchar_t *win32_path(struct jw_error *err, const char *path)
{
	static const wchar_t prefix[] = L"\\\\?\\", share[] = L"\\\\?\\UNC\\";
	wchar_t *plain = win32_plain_path(err, path), *full;
	const wchar_t *start = prefix, *rest = plain;

	if (!plain || is_raw(plain))
		return plain;
	if (plain[0] == L'\\' && plain[1] == L'\\') {
		start = share;
		rest = plain + 2;
	}
	full = mem_array(wcslen(start) + wcslen(rest) + 1, sizeof *full);
	memcpy(full, start, wcslen(start) * sizeof *start);
	memcpy(full + wcslen(start), rest, wcslen(rest) * sizeof *rest);
	mem_free(plain);
	return full;
}

char *win32_shown(struct jw_error *err, const wchar_t *path)
{
	char *utf8 = win32_utf8(err, path);

	if (!utf8)
		return NULL;
	if (text_starts(utf8, "\\\\?\\UNC\\"))
		memmove(utf8 + 2, utf8 + 8, strlen(utf8 + 8) + 1);
	else if (text_starts(utf8, "\\\\?\\"))
		memmove(utf8, utf8 + 4, strlen(utf8 + 4) + 1);
	return utf8;
}

static const struct reason {
	DWORD number;
	enum jw_code code;
	const char *text;
} reasons[] = {
	{ERROR_FILE_NOT_FOUND, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_PATH_NOT_FOUND, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_INVALID_NAME, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_BAD_PATHNAME, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_INVALID_DRIVE, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_BAD_NETPATH, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_BAD_NET_NAME, JW_ERR_NOT_FOUND, "No such file or directory"},
	{ERROR_MOD_NOT_FOUND, JW_ERR_NOT_FOUND, "No such library, or one that it needs is missing"},
	{ERROR_BAD_EXE_FORMAT, JW_ERR_FORMAT, "Not a library for this system"},
	{ERROR_DIRECTORY, JW_ERR_NOT_FOUND, "Not a directory"},
	{ERROR_ACCESS_DENIED, JW_ERR_IO, "Permission denied"},
	{ERROR_SHARING_VIOLATION, JW_ERR_IO, "In use by another program"},
	{ERROR_LOCK_VIOLATION, JW_ERR_IO, "Locked by another program"},
	{ERROR_USER_MAPPED_FILE, JW_ERR_IO, "In use by another program"},
	{WIN32_LINK_REFUSED, JW_ERR_IO, "Is a link, which is not followed with administrator's rights"},
	{ERROR_WRITE_PROTECT, JW_ERR_IO, "Read-only file system"},
	{ERROR_DISK_FULL, JW_ERR_IO, "No space left on device"},
	{ERROR_HANDLE_DISK_FULL, JW_ERR_IO, "No space left on device"},
	{ERROR_DIR_NOT_EMPTY, JW_ERR_IO, "Directory not empty"},
	{ERROR_FILE_EXISTS, JW_ERR_IO, "File exists"},
	{ERROR_ALREADY_EXISTS, JW_ERR_IO, "File exists"},
	{ERROR_FILENAME_EXCED_RANGE, JW_ERR_IO, "File name too long"},
	{ERROR_BROKEN_PIPE, JW_ERR_IO, "Broken pipe"},
	{ERROR_NO_DATA, JW_ERR_IO, "Broken pipe"},
	{ERROR_NOT_ENOUGH_MEMORY, JW_ERR_IO, "Cannot allocate memory"},
	{ERROR_OUTOFMEMORY, JW_ERR_IO, "Cannot allocate memory"},
	{ERROR_COMMITMENT_LIMIT, JW_ERR_IO, "Cannot allocate memory"},
	{ERROR_NO_SYSTEM_RESOURCES, JW_ERR_IO, "Cannot allocate memory"},
};

/* Writes the system's message without its full stop and line end. */
static void system_text(DWORD number, char *text, size_t room)
{
	wchar_t wide[256];
	DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
								  number, 0, wide, sizeof wide / sizeof *wide, NULL);

	while (length && (wide[length - 1] <= L' ' || wide[length - 1] == L'.'))
		length--;
	wide[length] = L'\0';
	if (!length || WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)room, NULL, NULL) <= 0)
		(void)text_format(text, room, "Windows error %lu", (unsigned long)number);
}

int os_error_number(struct jw_error *err, const char *path, int number)
{
	char text[768];

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].number == (DWORD)number)
			return error_set(err, reasons[i].code,
							 number == ERROR_DISK_FULL || number == ERROR_HANDLE_DISK_FULL
								 ? "%s: %s: free some space, or name another folder"
								 : "%s: %s",
							 path, reasons[i].text);
	system_text((DWORD)number, text, sizeof text);
	return error_set(err, JW_ERR_IO, "%s: %s", path, text);
}

int win32_error(struct jw_error *err, const char *path)
{
	DWORD number = GetLastError();

	(void)os_error_number(err, path, (int)number);
	SetLastError(number);
	return -1;
}

static const int64_t from_1601_to_1970 = INT64_C(116444736000000000);

int64_t win32_time_ns(const FILETIME *time)
{
	return ((int64_t)win32_u64(time->dwHighDateTime, time->dwLowDateTime) - from_1601_to_1970) *
		   100;
}
