#include "os/win32/entries.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "os/win32/win32.h"

/* Source: Microsoft, "[MS-FSCC] Reparse Tags", 2.1.2.4 and 2.1.2.5: tag, length, reserved, and then
 * offset and length of the substitute name and of the name that is shown, behind which a symbolic
 * link has flags. The names follow. */
enum {
	AT_NAME = 8,
	AT_FLAGS = 16,
	JUNCTION_NAMES = 16,
	SYMLINK_NAMES = 20,
	FLAG_RELATIVE = 1,
};

wchar_t *win32_link_target(struct jw_error *err, const char *path, const void *data, size_t size,
						   bool *ret_relative)
{
	const uint8_t *bytes = data;
	const uint32_t tag = size >= SYMLINK_NAMES ? load_u32(bytes) : 0;
	const size_t names = tag == IO_REPARSE_TAG_SYMLINK       ? SYMLINK_NAMES
						 : tag == IO_REPARSE_TAG_MOUNT_POINT ? JUNCTION_NAMES
															 : 0;
	const uint32_t place = names ? load_u32(bytes + AT_NAME) : 0;
	const size_t offset = names + (place & UINT16_MAX), length = place >> 16;
	const bool relative = names == SYMLINK_NAMES && load_u32(bytes + AT_FLAGS) & FLAG_RELATIVE;
	wchar_t *target;

	if (!length || length % sizeof *target || length > size || offset > size - length) {
		error_set(err, JW_ERR_FORMAT, "%s: a link of an unknown kind", path);
		return NULL;
	}
	target = mem_array(length / sizeof *target + 1, sizeof *target);
	memcpy(target, bytes + offset, length);
	if (wcslen(target) != length / sizeof *target ||
		(!relative && wcsncmp(target, L"\\??\\", 4) != 0)) {
		error_set(err, JW_ERR_FORMAT, "%s: a link of an unknown kind", path);
		mem_free(target);
		return NULL;
	}
	*ret_relative = relative;
	return target;
}

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
	uint8_t *data = mem_alloc(ROOM);
	FILE_INFO_BY_HANDLE_CLASS kind = FileFullDirectoryRestartInfo;
	int result = 0;

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
