/* Removes files and folders at once, even if others have a file open. */
#include "os/win32/opening.h"

#include "base/mem.h"
#include "os/file.h"

/* FileDispositionInfoEx; mingw-w64 declares it only for newer targets. Source: Microsoft,
 * FILE_DISPOSITION_INFO_EX. */
static const FILE_INFO_BY_HANDLE_CLASS disposition_class = (FILE_INFO_BY_HANDLE_CLASS)21;
enum { NOW = 1, AS_POSIX = 2, EVEN_READ_ONLY = 16 };

/* jitwarm makes no deeper directories. */
enum { MAX_DEPTH = 64 };

static bool is_gone(void)
{
	return GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND;
}

static DWORD attributes_of(HANDLE file)
{
	FILE_BASIC_INFO info;

	return GetFileInformationByHandleEx(file, FileBasicInfo, &info, sizeof info)
			   ? info.FileAttributes
			   : 0;
}

/* Deletes an open file. File systems other than NTFS, and Windows before 10 1607, have only the
 * second way. A read-only file is deleted too, as on POSIX systems. -1 with GetLastError() set. */
static int dispose(HANDLE file)
{
	DWORD flags = NOW | AS_POSIX | EVEN_READ_ONLY;
	FILE_DISPOSITION_INFO plain = {.DeleteFile = TRUE};
	FILE_BASIC_INFO writable = {.FileAttributes = FILE_ATTRIBUTE_NORMAL};

	if (SetFileInformationByHandle(file, disposition_class, &flags, sizeof flags))
		return 0;
	if (attributes_of(file) & FILE_ATTRIBUTE_READONLY)
		(void)SetFileInformationByHandle(file, FileBasicInfo, &writable, sizeof writable);
	return SetFileInformationByHandle(file, FileDispositionInfo, &plain, sizeof plain) ? 0 : -1;
}

/* Opens a file with DELETE and `more`, which may be refused or conflict with a program that has the
 * file open. */
static HANDLE open_to_remove(struct jw_error *err, const char *path, DWORD more)
{
	HANDLE opened = win32_open(err, path, DELETE | FILE_WRITE_ATTRIBUTES | more, OPENING_LINK);

	return opened == INVALID_HANDLE_VALUE && !is_gone()
			   ? win32_open(err, path, DELETE, OPENING_LINK)
			   : opened;
}

/* Returns whether a link's target was opened, as Wine does. */
static bool is_target(HANDLE opened, const char *path)
{
	return win32_is_link(opened, path) && !(attributes_of(opened) & FILE_ATTRIBUTE_REPARSE_POINT);
}

struct removal {
	const char *path;
	int depth;
};

static int remove_all(struct jw_error *err, const char *path, int depth);

static int remove_entry(struct jw_error *err, void *context, const struct win32_entry *entry)
{
	const struct removal *above = context;
	char *name = win32_utf8(err, entry->name), *path = name ? os_join(above->path, name) : NULL;
	const int result = path ? remove_all(err, path, above->depth + 1) : -1;

	mem_free(path);
	mem_free(name);
	return result;
}

/* Removes a file, a link itself, or a folder with everything in it. */
static int remove_all(struct jw_error *err, const char *path, int depth)
{
	struct removal below = {path, depth};
	HANDLE opened = open_to_remove(err, path, FILE_LIST_DIRECTORY);
	int result = 0;

	if (opened == INVALID_HANDLE_VALUE)
		return is_gone() ? 0 : -1;
	if (is_target(opened, path))
		result = error_set(err, JW_ERR_UNSUPPORTED, "%s: is a link", path);
	else if (attributes_of(opened) & FILE_ATTRIBUTE_DIRECTORY && !win32_is_link(opened, path))
		result = depth > MAX_DEPTH ? error_set(err, JW_ERR_LIMIT, "%s: folders too deep", path)
								   : win32_entries(err, opened, path, remove_entry, &below);
	if (!result && dispose(opened))
		result = win32_error(err, path);
	(void)CloseHandle(opened);
	return result;
}

int os_remove_tree(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};

	return remove_all(&why, path, 0) ? error_copy(err, &why) : 0;
}

/* Removes an empty folder (`folder`), or anything but a folder. */
static int remove_single(struct jw_error *err, const char *path, bool folder)
{
	HANDLE opened = open_to_remove(err, path, 0);
	int result = -1;

	if (opened == INVALID_HANDLE_VALUE)
		return -1;
	if (is_target(opened, path))
		SetLastError(WIN32_LINK_REFUSED);
	else if (folder != ((attributes_of(opened) & FILE_ATTRIBUTE_DIRECTORY) != 0))
		SetLastError(folder ? ERROR_DIRECTORY : ERROR_ACCESS_DENIED);
	else
		result = dispose(opened);
	win32_close(opened);
	return result ? win32_error(err, path) : 0;
}

int os_remove(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};

	if (!remove_single(&why, path, false) || why.code == JW_ERR_NOT_FOUND)
		return 0;
	return error_copy(err, &why);
}

int os_remove_empty_dir(struct jw_error *err, const char *path)
{
	return remove_single(err, path, true);
}
