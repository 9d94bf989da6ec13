/* Deletes by handle: what was opened and looked at is what goes, whatever is put in its place
 * meanwhile, and no link is followed. */
#include "os/win32/opening.h"

#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/win32/entries.h"

/* FileDispositionInfoEx; mingw-w64 declares it only for newer targets. Source: Microsoft,
 * FILE_DISPOSITION_INFO_EX. */
static const FILE_INFO_BY_HANDLE_CLASS disposition_class = (FILE_INFO_BY_HANDLE_CLASS)21;
enum { NOW = 1, AS_POSIX = 2, EVEN_READ_ONLY = 16 };

/* jitwarm makes no deeper directories. */
enum { MOST_DEPTH = 64 };

static const DWORD to_remove = DELETE | FILE_WRITE_ATTRIBUTES;

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

/* File systems other than NTFS, and Windows before 10 1607, have only the second way. A file that
 * is marked read-only goes too, as on POSIX systems. -1 with GetLastError() set. */
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

struct removal {
	HANDLE folder;
	const char *path; /* for messages */
	int depth;
};

static int remove_entry(struct jw_error *err, void *context, const struct win32_entry *entry);

int win32_remove_content(struct jw_error *err, HANDLE folder, const char *path)
{
	struct removal all = {.folder = folder, .path = path};

	return win32_entries(err, folder, path, remove_entry, &all);
}

/* More than DELETE may be refused, or in conflict with a program that has the file open. */
static HANDLE open_to_remove(const struct win32_at *at, DWORD more)
{
	HANDLE opened = win32_open_at(at, to_remove | more, SHARE_ALL, OPENING_LINK);

	return opened == INVALID_HANDLE_VALUE && !is_gone()
			   ? win32_open_at(at, DELETE, SHARE_ALL, OPENING_LINK)
			   : opened;
}

/* Wine opens a link's target. */
static bool is_target(const struct win32_at *at, HANDLE opened)
{
	return win32_is_link(at, opened) && !(attributes_of(opened) & FILE_ATTRIBUTE_REPARSE_POINT);
}

/* A file, a link, or a folder with all that is in it. */
static int remove_opened(struct jw_error *err, const struct removal *above,
						 const struct win32_at *at, HANDLE opened)
{
	struct removal below = {.folder = opened, .path = above->path, .depth = above->depth + 1};

	if (is_target(at, opened))
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: holds a link", above->path);
	if (attributes_of(opened) & FILE_ATTRIBUTE_DIRECTORY && !win32_is_link(at, opened)) {
		if (below.depth > MOST_DEPTH)
			return error_set(err, JW_ERR_LIMIT, "%s: folders too deep", above->path);
		if (win32_entries(err, opened, above->path, remove_entry, &below))
			return -1;
	}
	return dispose(opened) ? win32_error(err, above->path) : 0;
}

static int remove_there(struct jw_error *err, const struct removal *above,
						const struct win32_at *at)
{
	HANDLE opened = open_to_remove(at, FILE_LIST_DIRECTORY);
	int result;

	if (opened == INVALID_HANDLE_VALUE)
		return is_gone() ? 0 : win32_error(err, above->path);
	result = remove_opened(err, above, at, opened);
	(void)CloseHandle(opened);
	return result;
}

static int remove_entry(struct jw_error *err, void *context, const struct win32_entry *entry)
{
	const struct removal *above = context;

	return remove_there(err, above,
						&(struct win32_at){.folder = above->folder, .name = entry->name});
}

int os_remove_tree(struct jw_error *err, const char *path)
{
	struct win32_at at;
	int result;

	if (win32_enter(err, path, false, &at))
		return -1;
	result = remove_there(err, &(struct removal){.path = path}, &at);
	win32_leave(&at);
	return result;
}

/* `folder`: only an empty one; else anything but a folder. */
static int remove_single(struct jw_error *err, const char *path, bool folder)
{
	HANDLE opened;
	struct win32_at at;
	int result = -1;

	if (win32_enter(err, path, false, &at))
		return -1;
	opened = open_to_remove(&at, 0);
	if (opened == INVALID_HANDLE_VALUE)
		goto done;
	if (is_target(&at, opened))
		SetLastError(WIN32_LINK_REFUSED);
	else if (folder != ((attributes_of(opened) & FILE_ATTRIBUTE_DIRECTORY) != 0))
		SetLastError(folder ? ERROR_DIRECTORY : ERROR_ACCESS_DENIED);
	else
		result = dispose(opened);
	win32_close(opened);
done:
	win32_leave(&at);
	return result ? win32_error(err, path) : 0;
}

int os_remove(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};

	if (!remove_single(&why, path, false) || why.code == JW_ERR_NOT_FOUND)
		return 0;
	return error_copy(err, &why);
}

struct sweep {
	HANDLE folder;
	const char *path, *prefix, *form;
	enum os_kind kind;
	int64_t before_ns; /* 0: of any age */
};

static bool is_swept(const struct sweep *sweep, const struct win32_at *at, HANDLE opened)
{
	const bool directory = attributes_of(opened) & FILE_ATTRIBUTE_DIRECTORY;
	FILETIME written;

	return !win32_is_link(at, opened) && directory == (sweep->kind == OS_DIRECTORY) &&
		   (!sweep->before_ns || (GetFileTime(opened, NULL, NULL, &written) &&
								  win32_time_ns(&written) < sweep->before_ns));
}

static int sweep_entry(struct jw_error *err, void *context, const struct win32_entry *entry)
{
	const struct sweep *sweep = context;
	const struct removal above = {.folder = sweep->folder, .path = sweep->path};
	const struct win32_at at = {.folder = sweep->folder, .name = entry->name};
	char *name = win32_utf8(NULL, entry->name);
	HANDLE opened = INVALID_HANDLE_VALUE;

	(void)err;
	if (name && text_starts(name, sweep->prefix) &&
		text_has_form(name + strlen(sweep->prefix), sweep->form))
		opened = open_to_remove(&at, FILE_LIST_DIRECTORY);
	mem_free(name);
	if (opened == INVALID_HANDLE_VALUE)
		return 0;
	if (is_swept(sweep, &at, opened))
		(void)remove_opened(NULL, &above, &at, opened);
	(void)CloseHandle(opened);
	return 0;
}

void os_sweep(const char *folder, const char *prefix, const char *form, enum os_kind kind,
			  int64_t older_s)
{
	struct sweep sweep = {.path = folder,
						  .prefix = prefix,
						  .form = form,
						  .kind = kind,
						  .before_ns = older_s ? (os_now_s() - older_s) * 1000000000 : 0};

	sweep.folder = win32_open(NULL, folder, FILE_LIST_DIRECTORY, OPENING_FOLDER);
	if (sweep.folder == INVALID_HANDLE_VALUE)
		return;
	(void)win32_entries(NULL, sweep.folder, folder, sweep_entry, &sweep);
	(void)CloseHandle(sweep.folder);
}

int path_remove_dir(struct jw_error *err, const char *path)
{
	return remove_single(err, path, true);
}
