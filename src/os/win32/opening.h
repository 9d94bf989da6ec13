/* Opens files and folders by a path; every call of this folder that takes one goes through here. An
 * administrator writes to no link or other reparse point at a path's end; links before it are
 * followed, as Windows does. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "os/win32/win32.h"

enum win32_opening {
	OPENING_EXISTING,
	OPENING_LINK,   /* existing; a link itself, not its target */
	OPENING_FOLDER, /* an existing folder */
	OPENING_FILE,   /* made if it is not there */
	OPENING_NEW_FILE,
	OPENING_NEW_FOLDER,
};

/* Shared with everybody, for waiting calls, and also with SYNCHRONIZE and FILE_READ_ATTRIBUTES.
 * INVALID_HANDLE_VALUE with err and GetLastError() set. */
HANDLE win32_open(struct jw_error *err, const char *path, DWORD access, enum win32_opening how);

/* Wine has neither links nor times of creation. */
bool win32_is_wine(void);
/* Whether what was opened as OPENING_LINK is one. */
bool win32_is_link(HANDLE opened, const char *path);

/* Renames an open file (DELETE), over what is there. -1 with err and GetLastError() set. */
int win32_rename_to(struct jw_error *err, HANDLE file, const char *to);

/* What is in an open folder. */
struct win32_entry {
	wchar_t name[MAX_PATH];
	DWORD attributes; /* FILE_ATTRIBUTE_... of a link itself */
};

/* Calls `each` for everything in a folder but "." and "..", until it returns something else than 0,
 * which is then returned. The handle needs FILE_LIST_DIRECTORY; `path` is for the message. */
int win32_entries(struct jw_error *err, HANDLE folder, const char *path,
				  int (*each)(struct jw_error *err, void *context, const struct win32_entry *entry),
				  void *context);
