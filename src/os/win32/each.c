#include "os/each.h"

#include "base/mem.h"
#include "os/win32/entries.h"
#include "os/win32/opening.h"

struct each {
	int (*take)(struct jw_error *err, void *context, const char *name, const struct os_stat *stat);
	void *context;
	uint64_t device; /* of the folder: only reparse points lead to another one */
};

static int take_entry(struct jw_error *err, void *context, const struct win32_entry *entry)
{
	const struct each *each = context;
	char *name = win32_utf8(err, entry->name);
	const struct os_stat stat = {
		.kind = entry->attributes & (FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DEVICE)
					? OS_OTHER
				: entry->attributes & FILE_ATTRIBUTE_DIRECTORY ? OS_DIRECTORY
															   : OS_REGULAR,
		.size_bytes = entry->size_bytes,
		.mtime_ns = win32_time_ns(&entry->written),
		.device = each->device,
	};
	int result = name ? each->take(err, each->context, name, &stat) : -1;

	mem_free(name);
	return result;
}

int os_each(struct jw_error *err, const char *path,
			int (*take)(struct jw_error *err, void *context, const char *name,
						const struct os_stat *stat),
			void *context)
{
	HANDLE folder = win32_open(err, path, FILE_LIST_DIRECTORY, OPENING_FOLDER);
	struct each each = {.take = take, .context = context};
	BY_HANDLE_FILE_INFORMATION info;
	int result;

	if (folder == INVALID_HANDLE_VALUE)
		return -1;
	if (GetFileInformationByHandle(folder, &info))
		each.device = info.dwVolumeSerialNumber;
	result = win32_entries(err, folder, path, take_entry, &each);
	(void)CloseHandle(folder);
	return result;
}
