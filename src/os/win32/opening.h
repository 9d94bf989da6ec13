/* Opens files and folders by a path; every call of this folder that takes one goes through here.
 *
 * With an administrator's rights, or the system's, a path is opened part by part, each relative to
 * the open folder above, and no part as the link that it may be. A link is followed only if no
 * other account can have made it, according to the owner and the access list of the link itself and
 * of its folder; otherwise the call fails. Whoever swaps a folder for a link meanwhile gains
 * nothing. For all other accounts Windows resolves the path.
 *
 *     if (win32_enter(err, path, false, &at))
 *         return -1;
 *     handle = win32_open_at(&at, DELETE, SHARE_ALL, OPENING_LINK);
 *     win32_leave(&at); */
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

/* Where a path ends: `name` in `folder`, or the whole path for the system if that is NULL. */
struct win32_at {
	HANDLE folder;
	const wchar_t *name;
	wchar_t *text;    /* private, as the next one */
	bool opened_link; /* Wine: what is there is a link that may be followed */
};

/* `followed`: where the path ends with a link, at its target. */
int win32_enter(struct jw_error *err, const char *path, bool followed, struct win32_at *ret_at);
/* Keeps GetLastError(). */
void win32_leave(struct win32_at *at);

/* INVALID_HANDLE_VALUE with GetLastError() set. The handle is for waiting calls, and also has
 * SYNCHRONIZE and FILE_READ_ATTRIBUTES. */
HANDLE win32_open_at(const struct win32_at *at, DWORD access, DWORD share, enum win32_opening how);

/* All three at once, shared with everybody. INVALID_HANDLE_VALUE with err and GetLastError() set */
HANDLE win32_open(struct jw_error *err, const char *path, DWORD access, enum win32_opening how);

/* Wine has neither links nor times of creation. */
bool win32_is_wine(void);
/* Whether `name`, opened there as OPENING_LINK, is a link. */
bool win32_is_link(const struct win32_at *at, HANDLE opened);

/* Renames an open file (DELETE) to where `to` is, over what is there. -1 with GetLastError() set */
int win32_rename_to(HANDLE file, const struct win32_at *to);

/* Removes everything in an open folder (FILE_LIST_DIRECTORY), wherever that is by now. Links go
 * themselves. `path` is for the message. */
int win32_remove_content(struct jw_error *err, HANDLE folder, const char *path);
