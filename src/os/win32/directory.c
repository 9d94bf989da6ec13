#include "os/file.h"

#include "base/mem.h"
#include "os/names.h"
#include "os/win32/entries.h"
#include "os/win32/opening.h"

static enum os_kind kind_of(const char *path, const char *name, DWORD attributes)
{
	struct os_stat stat = {.kind = OS_OTHER};
	char *full;

	if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
		return attributes & FILE_ATTRIBUTE_DIRECTORY ? OS_DIRECTORY
			   : attributes & FILE_ATTRIBUTE_DEVICE  ? OS_OTHER
													 : OS_REGULAR;
	full = os_join(NULL, path, name);
	if (full)
		(void)os_stat(NULL, full, &stat);
	mem_free(full);
	return stat.kind;
}

struct listing {
	const char *path;
	struct named *found;
	size_t capacity, count;
};

static int add_name(struct jw_error *err, void *context, const struct win32_entry *entry)
{
	struct listing *listing = context;
	struct named *named;

	if (VEC_ROOM(err, listing->found, listing->capacity, listing->count, NAMES_MOST))
		return -1;
	named = &listing->found[listing->count];
	named->name = win32_utf8(err, entry->name);
	if (!named->name)
		return -1;
	named->kind = kind_of(listing->path, named->name, entry->attributes);
	listing->count++;
	return 0;
}

int os_list(struct jw_error *err, const char *path, struct os_names *ret_names)
{
	HANDLE folder = win32_open(err, path, FILE_LIST_DIRECTORY, OPENING_FOLDER);
	struct listing listing = {.path = path};
	int result;

	if (folder == INVALID_HANDLE_VALUE)
		return -1;
	result = win32_entries(err, folder, path, add_name, &listing) ||
					 names_finish(err, listing.found, listing.count, ret_names)
				 ? -1
				 : 0;
	for (size_t i = 0; result && i < listing.count; i++)
		mem_free(listing.found[i].name);
	mem_free(listing.found);
	(void)CloseHandle(folder);
	return result;
}

/* Opening checks the same rights as writing, and writes nothing; an open handle of another process
 * is detected only after that check. A folder's content rights and a file's have the same numbers.
 */
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
	wchar_t *wide = win32_path(err, path), *final = mem_array(err, WIN32_MOST_PATH, sizeof *final);
	HANDLE handle = INVALID_HANDLE_VALUE;
	char *shown = NULL;

	if (!wide || !final)
		goto done;
	handle = win32_open(err, path, 0, OPENING_EXISTING);
	if (handle == INVALID_HANDLE_VALUE)
		goto done;
	/* Some file systems (RAM disks) have no answer: keep the path unchanged. */
	if (GetFinalPathNameByHandleW(handle, final, WIN32_MOST_PATH, 0))
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
