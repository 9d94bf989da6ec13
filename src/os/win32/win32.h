/* Shared by the files of this folder alone: between UTF-8 and the system's UTF-16, and errors. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

/* Before windows.h, which would bring in an older winsock */
#include "os/uv.h"

#include <windows.h>

/* Others may read, write, rename and delete a file that we have open, as on POSIX systems. */
enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* Nothing that Windows calls a path is longer (32,767 UTF-16 units). */
enum { WIN32_MOST_PATH = 32768 };

/* UTF-8 as UTF-16; the caller frees it. JW_ERR_USAGE where `text` is no UTF-8. */
wchar_t *win32_wide(struct jw_error *err, const char *text);
/* UTF-16 as UTF-8; the caller frees it. A lone surrogate becomes U+FFFD. */
char *win32_utf8(struct jw_error *err, const wchar_t *text);

/* A path as the file functions want it: absolute, with backslashes, and in the form \\?\ that may
 * be longer than 260 characters. The caller frees it. */
wchar_t *win32_path(struct jw_error *err, const char *path);
/* The same without \\?\, for functions that do not understand it. */
wchar_t *win32_plain_path(struct jw_error *err, const char *path);
/* A path from the system as UTF-8, without \\?\; the caller frees it. */
char *win32_shown(struct jw_error *err, const wchar_t *path);
/* `folder` and `name` with a backslash between; the caller frees it. */
wchar_t *win32_join(struct jw_error *err, const wchar_t *folder, const wchar_t *name);

/* -1, with the reason of GetLastError(), which stays as it is, behind the path. Common reasons read
 * as they do on POSIX systems, whatever the language of this Windows. */
int win32_error(struct jw_error *err, const char *path);

/* Another program that has the file open, by the Restart Manager; false if it knows of none. */
struct os_program;
bool win32_user_of(const char *path, struct os_program *ret_program);

/* Room for any SID. */
union sid_room {
	SID sid;
	BYTE room[SECURITY_MAX_SID_SIZE];
};

/* 100 ns since 1601 to ns since 1970. */
int64_t win32_time_ns(const FILETIME *time);
FILETIME win32_file_time(int64_t ns);

static inline uint64_t win32_u64(DWORD high, DWORD low)
{
	return (uint64_t)high << 32 | low;
}
