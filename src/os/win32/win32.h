/* Conversion between UTF-8 and UTF-16, and errors; only for the files of this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

/* Comes before windows.h, which would include an older winsock. */
#include "os/uv.h"

#include <windows.h>

/* Lets others read, write, rename and delete a file that this process has open, as on POSIX. */
enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* The longest path on Windows (32,767 UTF-16 units). */
enum { WIN32_MAX_PATH = 32768 };

/* Converts UTF-8 to UTF-16; the caller frees it. JW_ERR_USAGE if `text` is not UTF-8. */
wchar_t *win32_wide(struct jw_error *err, const char *text);
/* Converts UTF-16 to UTF-8; the caller frees it. A lone surrogate becomes U+FFFD. */
char *win32_utf8(struct jw_error *err, const wchar_t *text);

/* Converts a path for the file functions: absolute, with backslashes, and with \\?\, which allows
 * more than 260 characters. The caller frees it. */
wchar_t *win32_path(struct jw_error *err, const char *path);
/* Converts a path for functions that do not understand \\?\. The caller frees it. */
wchar_t *win32_plain_path(struct jw_error *err, const char *path);
/* A path from the system as UTF-8, without \\?\; the caller frees it. */
char *win32_shown(struct jw_error *err, const wchar_t *path);

/* Sets the reason of GetLastError(), which is unchanged, after the path. Common reasons read as on
 * POSIX systems, in every language of Windows. Returns -1. */
int win32_error(struct jw_error *err, const char *path);
/* Makes a folder like path_make_private_folder, for any account. */
int path_make_folder(struct jw_error *err, const char *path, char **ret_name);

/* ERROR_REPARSE_POINT_ENCOUNTERED, which mingw-w64 lacks. */
enum { WIN32_LINK_REFUSED = 4395 };

/* Closes a handle and keeps GetLastError(). */
static inline void win32_close(HANDLE handle)
{
	const DWORD reason = GetLastError();

	(void)CloseHandle(handle);
	SetLastError(reason);
}

/* Room for any SID. */
union sid_room {
	SID sid;
	BYTE room[SECURITY_MAX_SID_SIZE];
};

/* Converts units of 100 ns since 1601 to ns since 1970. */
int64_t win32_time_ns(const FILETIME *time);

static inline uint64_t win32_u64(DWORD high, DWORD low)
{
	return (uint64_t)high << 32 | low;
}
