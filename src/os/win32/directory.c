#include "os/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/names.h"
#include "os/win32/win32.h"

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

static bool is_dots(const wchar_t *name)
{
	return !wcscmp(name, L".") || !wcscmp(name, L"..");
}

/* Lists everything in a folder; INVALID_HANDLE_VALUE as in FindFirstFileExW. */
static HANDLE find_first(const wchar_t *folder, WIN32_FIND_DATAW *ret_entry)
{
	wchar_t *pattern = win32_join(NULL, folder, L"*");
	HANDLE search = INVALID_HANDLE_VALUE;

	if (pattern)
		search = FindFirstFileExW(pattern, FindExInfoBasic, ret_entry, FindExSearchNameMatch, NULL,
								  FIND_FIRST_EX_LARGE_FETCH);
	else
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	mem_free(pattern);
	return search;
}

int os_list(struct jw_error *err, const char *path, struct os_names *ret_names)
{
	wchar_t *wide = win32_path(err, path);
	struct named *found = NULL;
	size_t capacity = 0, count = 0;
	WIN32_FIND_DATAW entry;
	HANDLE search;
	int result = -1;

	if (!wide)
		return -1;
	search = find_first(wide, &entry);
	if (search == INVALID_HANDLE_VALUE) {
		/* Only the root of an empty drive lacks even ".". */
		if (GetLastError() == ERROR_FILE_NOT_FOUND)
			result = names_finish(err, NULL, 0, ret_names);
		else
			win32_error(err, path);
		goto done;
	}
	do {
		if (is_dots(entry.cFileName))
			continue;
		if (VEC_ROOM(err, found, capacity, count, NAMES_MOST))
			goto done;
		found[count].name = win32_utf8(err, entry.cFileName);
		if (!found[count].name)
			goto done;
		found[count].kind = kind_of(path, found[count].name, entry.dwFileAttributes);
		count++;
	} while (FindNextFileW(search, &entry));
	if (GetLastError() != ERROR_NO_MORE_FILES)
		win32_error(err, path);
	else
		result = names_finish(err, found, count, ret_names);
done:
	for (size_t i = 0; result && i < count; i++)
		mem_free(found[i].name);
	mem_free(found);
	if (search != INVALID_HANDLE_VALUE)
		(void)FindClose(search);
	mem_free(wide);
	return result;
}

/* Opening checks the same rights as writing, and writes nothing; an open handle of another process
 * is detected only after that check. A folder's content rights and a file's have the same numbers.
 */
int os_may_write(struct jw_error *err, const char *path)
{
	static const DWORD wanted = FILE_GENERIC_READ | FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY;
	wchar_t *wide = win32_path(err, path);
	HANDLE handle;

	if (!wide)
		return -1;
	handle =
		CreateFileW(wide, wanted, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
	mem_free(wide);
	if (handle == INVALID_HANDLE_VALUE)
		return GetLastError() == ERROR_SHARING_VIOLATION ? 0 : win32_error(err, path);
	(void)CloseHandle(handle);
	return 0;
}

static bool is_gone(void)
{
	return GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND;
}

/* Also removes a file that is marked read-only, as on POSIX systems. */
static bool remove_file(const wchar_t *path)
{
	DWORD attributes;

	if (DeleteFileW(path) || is_gone())
		return true;
	if (GetLastError() != ERROR_ACCESS_DENIED)
		return false;
	attributes = GetFileAttributesW(path);
	if (attributes == INVALID_FILE_ATTRIBUTES || attributes & FILE_ATTRIBUTE_DIRECTORY ||
		!(attributes & FILE_ATTRIBUTE_READONLY) ||
		!SetFileAttributesW(path, FILE_ATTRIBUTE_NORMAL)) {
		SetLastError(ERROR_ACCESS_DENIED);
		return false;
	}
	return DeleteFileW(path);
}

int os_remove(struct jw_error *err, const char *path)
{
	wchar_t *wide = win32_path(err, path);
	int result = 0;

	if (!wide)
		return -1;
	if (!remove_file(wide))
		result = win32_error(err, path);
	mem_free(wide);
	return result;
}

/* jitwarm makes no deeper directories. */
enum { MOST_DEPTH = 64 };

/* false with GetLastError() set. */
static bool remove_below(const wchar_t *folder, int depth)
{
	WIN32_FIND_DATAW entry;
	HANDLE search = find_first(folder, &entry);
	bool fine = depth < MOST_DEPTH;

	if (search == INVALID_HANDLE_VALUE)
		return is_gone();
	do {
		wchar_t *path = is_dots(entry.cFileName) ? NULL : win32_join(NULL, folder, entry.cFileName);

		if (!path)
			continue;
		if (!(entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
			fine = fine && remove_file(path);
		else if (entry.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
			fine = fine && RemoveDirectoryW(path); /* removes only the link itself */
		else
			fine = fine && remove_below(path, depth + 1);
		mem_free(path);
	} while (fine && FindNextFileW(search, &entry));
	(void)FindClose(search);
	return fine && (RemoveDirectoryW(folder) || is_gone());
}

int os_remove_tree(struct jw_error *err, const char *path)
{
	wchar_t *wide = win32_path(err, path);
	DWORD attributes;
	bool fine;

	if (!wide)
		return -1;
	attributes = GetFileAttributesW(wide);
	if (attributes == INVALID_FILE_ATTRIBUTES)
		fine = is_gone();
	else if (!(attributes & FILE_ATTRIBUTE_DIRECTORY))
		fine = remove_file(wide);
	else if (attributes & FILE_ATTRIBUTE_REPARSE_POINT)
		fine = RemoveDirectoryW(wide);
	else
		fine = remove_below(wide, 0);
	if (!fine)
		win32_error(err, path);
	mem_free(wide);
	return fine ? 0 : -1;
}

int os_real_path(struct jw_error *err, const char *path, char **ret_path)
{
	wchar_t *wide = win32_path(err, path), *final = mem_array(err, WIN32_MOST_PATH, sizeof *final);
	HANDLE handle = INVALID_HANDLE_VALUE;
	char *shown = NULL;

	if (!wide || !final)
		goto done;
	handle = CreateFileW(wide, 0, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
	if (handle == INVALID_HANDLE_VALUE) {
		win32_error(err, path);
		goto done;
	}
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
