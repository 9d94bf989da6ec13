/* The content of a junction or a symbolic link, as NTFS stores it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "base/error.h"
#include "os/win32/win32.h"

/* Where it leads; the caller frees it. `path` is for the message. *ret_relative: from the link's
 * own folder; otherwise it begins with \??\. JW_ERR_FORMAT for what is neither. */
wchar_t *win32_link_target(struct jw_error *err, const char *path, const void *data, size_t size,
						   bool *ret_relative);

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
