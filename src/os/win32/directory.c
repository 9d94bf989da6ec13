#include "os/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/names.h"
#include "os/processes.h"
#include "os/win32/win32.h"

/* Others may do with a file what they like while we have it open, as on POSIX systems. */
enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

bool os_is_separator(char c)
{
	return c == '/' || c == '\\';
}

static bool has_drive(const char *path)
{
	return ((path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z')) &&
		   path[1] == ':';
}

bool os_is_absolute(const char *path)
{
	return os_is_separator(path[0]) || (has_drive(path) && os_is_separator(path[2]));
}

/* Length of the name that starts here, with the separator behind it. */
static size_t part_length(const char *path)
{
	size_t length = 0;

	while (path[length] && !os_is_separator(path[length]))
		length++;
	return length + (path[length] != '\0');
}

size_t os_root_length(const char *path)
{
	size_t length = 2;

	if (has_drive(path))
		return os_is_separator(path[2]) ? 3 : 2;
	if (!os_is_separator(path[0]))
		return 0;
	if (!os_is_separator(path[1]))
		return 1;
	length += part_length(path + length); /* \\server\share\ */
	return length + part_length(path + length);
}

/* ---- names in a directory */

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

/* The search for everything in a folder; INVALID_HANDLE_VALUE as FindFirstFileExW. */
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
		/* Only the root of an empty drive has not even "." */
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

/* ---- making */

static bool is_directory(const wchar_t *path)
{
	DWORD attributes = GetFileAttributesW(path);

	return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

/* `mode` has no meaning here: a folder inherits who may enter it, and the user's own folders are
 * closed to others. */
int os_make_dirs(struct jw_error *err, const char *path, uint32_t mode)
{
	wchar_t *wide = win32_path(err, path);
	int result = 0;

	(void)mode;
	if (!wide)
		return -1;
	/* Levels that cannot be made (a drive, a share, one that is there) are judged by the last one.
	 */
	for (wchar_t *at = wide + 4; !is_directory(wide) && *at; at++) {
		if (*at != L'\\')
			continue;
		*at = L'\0';
		(void)CreateDirectoryW(wide, NULL);
		*at = L'\\';
	}
	if (!CreateDirectoryW(wide, NULL) && !is_directory(wide))
		result = win32_error(err, path);
	mem_free(wide);
	return result;
}

/* Opening does the check that writing would, and writes nothing; that somebody else has it open is
 * found out only after that check. The rights to a folder's content and to a file's have the same
 * numbers. */
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

/* ---- removing and renaming */

static bool is_gone(void)
{
	return GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND;
}

/* Also one that is marked read-only, as on POSIX systems. */
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

/* Directories deeper than this are none of ours. */
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
			fine = fine && RemoveDirectoryW(path); /* a link: only itself */
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

/* FileRenameInfoEx, which mingw-w64 declares for newer targets only, as it does the flags of
 * FILE_RENAME_INFO below. */
static const FILE_INFO_BY_HANDLE_CLASS rename_class = (FILE_INFO_BY_HANDLE_CLASS)22;

/* Renames over a file that others have open (and share for deletion), as POSIX systems do: NTFS
 * from Windows 10 1607 on. false where the system or the file system cannot. Source: Microsoft's
 * documentation of FILE_RENAME_INFO. */
static bool rename_as_posix(const wchar_t *source, const wchar_t *target)
{
	struct rename_info {
		DWORD flags;
		HANDLE root;
		DWORD name_bytes;
		wchar_t name[1];
	} * info;
	const size_t name_bytes = wcslen(target) * sizeof *target, size = sizeof *info + name_bytes;
	HANDLE handle = CreateFileW(source, DELETE | SYNCHRONIZE, SHARE_ALL, NULL, OPEN_EXISTING,
								FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
	bool done = false;

	if (handle == INVALID_HANDLE_VALUE)
		return false;
	info = mem_alloc(NULL, size);
	if (info) {
		info->flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
		info->name_bytes = (DWORD)name_bytes;
		memcpy(info->name, target, name_bytes);
		done = SetFileInformationByHandle(handle, rename_class, info, (DWORD)size);
	}
	mem_free(info);
	(void)CloseHandle(handle);
	return done;
}

static bool is_in_use(DWORD error)
{
	return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
}

static void say_who(struct jw_error *err, const char *path)
{
	struct os_program program;
	char before[sizeof err->message];

	if (!err || !win32_user_of(path, &program))
		return;
	TEXT_COPY(before, err->message);
	(void)error_set(err, err->code, "%.800s (%s, process %d, has it open)", before,
					*program.name ? program.name : "a program", program.pid);
}

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	/* Virus scanners and indexers open what was just written, for a moment. */
	static const DWORD waits_ms[] = {1, 5, 20, 50, 100, 200};
	const size_t tries = sizeof waits_ms / sizeof *waits_ms;
	wchar_t *source = win32_path(err, from), *target = win32_path(err, to);
	int result = -1;

	if (!source || !target)
		goto done;
	for (size_t i = 0; result; i++) {
		if (rename_as_posix(source, target) ||
			MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING)) {
			result = 0;
		} else if (i == tries || !is_in_use(GetLastError())) {
			bool in_use = is_in_use(GetLastError());

			win32_error(err, to);
			if (in_use)
				say_who(err, to);
			break;
		} else {
			Sleep(waits_ms[i]);
		}
	}
done:
	mem_free(source);
	mem_free(target);
	return result;
}

struct os_file *os_file_take(const char *from, const char *to)
{
	(void)from;
	(void)to;
	return NULL;
}

int os_set_mode(struct jw_error *err, const char *path, uint32_t mode)
{
	(void)err;
	(void)path;
	(void)mode;
	return 0;
}

int os_set_owner(struct jw_error *err, const char *path, uint32_t owner, uint32_t group)
{
	(void)err;
	(void)path;
	(void)owner;
	(void)group;
	return 0;
}

/* ---- about places */

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
	/* Some file systems (RAM disks) have no answer: then the path as it is. */
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

int os_remove_empty_dir(struct jw_error *err, const char *path)
{
	wchar_t *wide = win32_path(err, path);
	int result = -1;

	if (wide)
		result = RemoveDirectoryW(wide) ? 0 : win32_error(err, path);
	mem_free(wide);
	return result;
}
