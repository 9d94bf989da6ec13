#include "os/win32/entries.h"

#include <string.h>

#include "base/mem.h"

enum { ROOM = 65536 };

static bool is_dots(const wchar_t *name)
{
	return !wcscmp(name, L".") || !wcscmp(name, L"..");
}

/* The entries that one call returned. */
static int each_of(struct jw_error *err, const uint8_t *data,
				   int (*each)(struct jw_error *err, void *context,
							   const struct win32_entry *entry),
				   void *context)
{
	const FILE_FULL_DIR_INFO *info;
	int result = 0;

	do {
		struct win32_entry entry = {0};
		size_t size;

		info = (const FILE_FULL_DIR_INFO *)(const void *)data;
		size = info->FileNameLength;
		if (size < sizeof entry.name) {
			memcpy(entry.name, info->FileName, size);
			entry.attributes = info->FileAttributes;
			entry.size_bytes = (uint64_t)info->EndOfFile.QuadPart;
			entry.written =
				(FILETIME){info->LastWriteTime.LowPart, (DWORD)info->LastWriteTime.HighPart};
			if (!is_dots(entry.name))
				result = each(err, context, &entry);
		}
		data += info->NextEntryOffset;
	} while (!result && info->NextEntryOffset);
	return result;
}

int win32_entries(struct jw_error *err, HANDLE folder, const char *path,
				  int (*each)(struct jw_error *err, void *context, const struct win32_entry *entry),
				  void *context)
{
	uint8_t *data = mem_alloc(err, ROOM);
	FILE_INFO_BY_HANDLE_CLASS kind = FileFullDirectoryRestartInfo;
	int result = 0;

	if (!data)
		return -1;
	while (!result && GetFileInformationByHandleEx(folder, kind, data, ROOM)) {
		kind = FileFullDirectoryInfo;
		result = each_of(err, data, each, context);
	}
	/* Only the root of an empty drive lacks even ".". */
	if (!result && GetLastError() != ERROR_NO_MORE_FILES && GetLastError() != ERROR_FILE_NOT_FOUND)
		result = win32_error(err, path);
	mem_free(data);
	return result;
}
