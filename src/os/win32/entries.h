/* What is in an open folder. */
#pragma once

#include "base/error.h"
#include "os/win32/win32.h"

struct win32_entry {
	wchar_t name[MAX_PATH];
	DWORD attributes; /* FILE_ATTRIBUTE_... of a link itself */
	uint64_t size_bytes;
	FILETIME written;
};

/* Calls `each` for everything in a folder but "." and "..", until it returns something else than 0,
 * which is then returned. The handle needs FILE_LIST_DIRECTORY; `path` is for the message. */
int win32_entries(struct jw_error *err, HANDLE folder, const char *path,
				  int (*each)(struct jw_error *err, void *context, const struct win32_entry *entry),
				  void *context);
