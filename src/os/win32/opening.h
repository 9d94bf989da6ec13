/* Opens files and folders by a path; every call of this folder that takes a path uses these
 * functions. An administrator does not write to a link or other reparse point at a path's end;
 * links before it are followed, as Windows does. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "os/win32/win32.h"

enum win32_opening {
	OPENING_EXISTING,
	OPENING_LINK,   /* an existing file; a link itself, not its target */
	OPENING_FOLDER, /* an existing folder */
	OPENING_FILE,   /* a file; made if it is missing */
	OPENING_NEW_FILE,
	OPENING_NEW_FOLDER,
};

/* Opens a handle that is shared with everybody, for waiting calls, and with SYNCHRONIZE and
 * FILE_READ_ATTRIBUTES in addition. INVALID_HANDLE_VALUE with err and GetLastError() set. */
HANDLE win32_open(struct jw_error *err, const char *path, DWORD access, enum win32_opening how);

/* Wine has neither links nor times of creation. */
bool win32_is_wine(void);
/* Returns whether the thing opened as OPENING_LINK is a link. */
bool win32_is_link(HANDLE opened, const char *path);

/* Renames an open file (DELETE), and replaces an existing one. -1 with err and GetLastError()
 * set. */
int win32_rename_to(struct jw_error *err, HANDLE file, const char *to);

/* An entry of an open folder. */
struct win32_entry {
	wchar_t name[MAX_PATH];
	DWORD attributes; /* FILE_ATTRIBUTE_... of a link itself */
};

/* Calls `each` for everything in a folder except "." and "..", until it returns another value than
 * 0, which is then returned. The handle needs FILE_LIST_DIRECTORY; `path` is for the message. */
int win32_entries(struct jw_error *err, HANDLE folder, const char *path,
				  int (*each)(struct jw_error *err, void *context, const struct win32_entry *entry),
				  void *context);
