#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/win32/opening.h"

enum { ROOM = 65536 };

static bool is_dots(const wchar_t *name)
{
	return !wcscmp(name, L".") || !wcscmp(name, L"..");
}

/* Calls `take` for the entries that one call returned. */
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

static enum os_kind kind_of(const char *path, const char *name, DWORD attributes)
{
	struct os_stat stat = {.kind = OS_OTHER};
	char *full;

	if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
		return attributes & FILE_ATTRIBUTE_DIRECTORY ? OS_DIRECTORY
			   : attributes & FILE_ATTRIBUTE_DEVICE  ? OS_OTHER
													 : OS_REGULAR;
	full = os_join(path, name);
	(void)os_stat(NULL, full, &stat);
	mem_free(full);
	return stat.kind;
}

/* Returns the kind of the entry itself, whatever it leads to. */
static enum os_kind own_kind(const struct win32_entry *entry)
{
	return entry->attributes & (FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DEVICE) ? OS_OTHER
		   : entry->attributes & FILE_ATTRIBUTE_DIRECTORY                             ? OS_DIRECTORY
																					  : OS_REGULAR;
}

struct each {
	const char *path, *prefix;
	unsigned how;
	int (*take)(struct jw_error *err, void *context, const char *name, const struct os_stat *stat);
	void *context;
	uint64_t device; /* the folder's device: only reparse points lead to another one */
};

static int take_entry(struct jw_error *err, void *context, const struct win32_entry *entry)
{
	const struct each *each = context;
	char *name = win32_utf8(err, entry->name);
	struct os_stat stat = {.device = each->device};
	int result = name ? 0 : -1;

	if (name && text_starts(name, each->prefix)) {
		stat.kind = each->how & EACH_FOLLOWED ? kind_of(each->path, name, entry->attributes)
											  : own_kind(entry);
		result = each->take(err, each->context, name, &stat);
	}
	mem_free(name);
	return result;
}

int path_each(struct jw_error *err, const char *path, const char *prefix, unsigned how,
			  int (*take)(struct jw_error *err, void *context, const char *name,
						  const struct os_stat *stat),
			  void *context, struct os_stat *ret_stat)
{
	struct each each = {path, prefix, how, take, context, 0};
	BY_HANDLE_FILE_INFORMATION info;
	HANDLE folder;
	int result;

	if (ret_stat && os_stat(err, path, ret_stat))
		return -1;
	folder = win32_open(err, path, FILE_LIST_DIRECTORY, OPENING_FOLDER);
	if (folder == INVALID_HANDLE_VALUE)
		return -1;
	if (GetFileInformationByHandle(folder, &info))
		each.device = info.dwVolumeSerialNumber;
	result = win32_entries(err, folder, path, take_entry, &each);
	(void)CloseHandle(folder);
	return result;
}

/* Opens the file, which checks the same rights as writing, and writes nothing; the system notices
 * another process's open handle only after that check. A folder's content rights have the same
 * numbers as a file's. */
bool os_is_denied(const char *path)
{
	HANDLE handle = win32_open(NULL, path, FILE_READ_DATA, OPENING_EXISTING);

	if (handle == INVALID_HANDLE_VALUE)
		return GetLastError() == ERROR_ACCESS_DENIED;
	(void)CloseHandle(handle);
	return false;
}

int os_may_write(struct jw_error *err, const char *path)
{
	static const DWORD wanted = FILE_GENERIC_READ | FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY;
	HANDLE handle = win32_open(err, path, wanted, OPENING_EXISTING);

	if (handle == INVALID_HANDLE_VALUE)
		return GetLastError() == ERROR_SHARING_VIOLATION ? 0 : -1;
	(void)CloseHandle(handle);
	return 0;
}

int os_real_path(struct jw_error *err, const char *path, char **ret_path)
{
	wchar_t *wide = win32_path(err, path), *final = mem_array(WIN32_MAX_PATH, sizeof *final);
	HANDLE handle = INVALID_HANDLE_VALUE;
	char *shown = NULL;

	if (!wide)
		goto done;
	handle = win32_open(err, path, 0, OPENING_EXISTING);
	if (handle == INVALID_HANDLE_VALUE)
		goto done;
	/* Some file systems (RAM disks) have no answer; then the path stays as it is. */
	if (GetFinalPathNameByHandleW(handle, final, WIN32_MAX_PATH, 0))
		shown = win32_shown(err, final);
	else
		shown = win32_shown(err, wide);
done:
	if (handle != INVALID_HANDLE_VALUE)
		(void)CloseHandle(handle);
	mem_free(wide);
	mem_free(final);
	if (!shown)
		return -1;
	*ret_path = shown;
	return 0;
}

static bool is_wide_directory(const wchar_t *path)
{
	DWORD attributes = GetFileAttributesW(path);

	return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

int os_space(struct jw_error *err, const char *path, struct os_space *ret_space)
{
	wchar_t *wide = win32_path(err, path), *root = mem_array(WIN32_MAX_PATH, sizeof *root);
	HANDLE there = wide ? win32_open(err, path, 0, OPENING_EXISTING) : INVALID_HANDLE_VALUE;
	ULARGE_INTEGER ours;
	int result = -1;

	if (there == INVALID_HANDLE_VALUE)
		goto done;
	(void)CloseHandle(there);
	/* Finds the root of the volume, since only folders can be queried. */
	if (!GetVolumePathNameW(wide, root, WIN32_MAX_PATH) ||
		!GetDiskFreeSpaceExW(is_wide_directory(wide) ? wide : root, &ours, NULL, NULL)) {
		win32_error(err, path);
		goto done;
	}
	*ret_space = (struct os_space){.free_bytes = ours.QuadPart,
								   .free_files = UINT64_MAX,
								   .network = GetDriveTypeW(root) == DRIVE_REMOTE};
	result = 0;
done:
	mem_free(wide);
	mem_free(root);
	return result;
}

bool os_is_read_only(const char *path)
{
	(void)path;
	return false;
}

bool os_is_made_up(const char *path)
{
	(void)path;
	return false;
}
