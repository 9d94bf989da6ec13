#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/path_calls.h"
#include "os/processes.h"
#include "os/uv.h"
#include "os/win32/opening.h"
#include "os/win32/win32.h"

static int stat_handle(struct jw_error *err, HANDLE handle, const char *path,
					   struct os_stat *ret_stat)
{
	BY_HANDLE_FILE_INFORMATION info;
	FILE_BASIC_INFO basic;

	if (GetFileType(handle) != FILE_TYPE_DISK) {
		*ret_stat = (struct os_stat){.kind = OS_OTHER, .mode = 0600};
		return 0;
	}
	if (!GetFileInformationByHandle(handle, &info))
		return win32_error(err, path);
	*ret_stat = (struct os_stat){
		.kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? OS_DIRECTORY : OS_REGULAR,
		.size_bytes = win32_u64(info.nFileSizeHigh, info.nFileSizeLow),
		.mtime_ns = win32_time_ns(&info.ftLastWriteTime),
		.device = info.dwVolumeSerialNumber,
		.inode = win32_u64(info.nFileIndexHigh, info.nFileIndexLow),
		.mode = info.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? 0400 : 0600,
		.names = 1,
	};
	if (GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic)) {
		const FILETIME changed = {basic.ChangeTime.LowPart, (DWORD)basic.ChangeTime.HighPart};

		ret_stat->changed_ns = win32_time_ns(&changed);
	}
	return 0;
}

int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	HANDLE handle = win32_open(err, path, FILE_READ_ATTRIBUTES, OPENING_EXISTING);
	int result;

	if (handle == INVALID_HANDLE_VALUE)
		return -1;
	result = stat_handle(err, handle, path, ret_stat);
	(void)CloseHandle(handle);
	return result;
}

int fd_stat(struct jw_error *err, int fd, const char *path, struct os_stat *ret_stat)
{
	return stat_handle(err, uv_get_osfhandle(fd), path, ret_stat);
}

int os_set_mode(struct jw_error *err, const char *path, uint32_t mode)
{
	(void)err;
	(void)path;
	(void)mode;
	return 0;
}

uint32_t os_creation_mask(void)
{
	return 0;
}

bool os_file_user(struct os_file *file, struct os_program *ret_program)
{
	(void)file;
	(void)ret_program;
	return false;
}

const char os_list_separator = ';';
const char os_separator = '\\';

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

/* Length of the name that starts here, including the separator after it. */
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

/* Bounds the wait for a virus scanner, or another manufacturer's driver, that has opened the file
 * without sharing it. */
enum { BUSY_TRIES = 50, BUSY_MS = 10 };

/* Makes a descriptor, which takes ownership of the handle. */
static int descriptor_of(struct jw_error *err, const char *path, HANDLE handle)
{
	int fd = uv_open_osfhandle(handle);

	if (fd >= 0)
		return fd;
	(void)CloseHandle(handle);
	return error_set(err, JW_ERR_IO, "%s: Too many open files", path);
}

int path_open(struct jw_error *err, const char *path, int flags, bool lock)
{
	const DWORD access = flags & UV_FS_O_RDWR ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ;
	const enum win32_opening how = flags & UV_FS_O_CREAT ? OPENING_FILE : OPENING_EXISTING;
	HANDLE handle = win32_open(err, path, access, how);

	(void)lock;
	for (int tries = 0; handle == INVALID_HANDLE_VALUE && tries < BUSY_TRIES &&
						GetLastError() == ERROR_SHARING_VIOLATION;
		 tries++) {
		uv_sleep(BUSY_MS);
		handle = win32_open(err, path, access, how);
	}
	return handle == INVALID_HANDLE_VALUE ? -1 : descriptor_of(err, path, handle);
}

int path_make_dir(struct jw_error *err, const char *path, uint32_t mode)
{
	HANDLE handle = win32_open(err, path, 0, OPENING_NEW_FOLDER);

	(void)mode;
	if (handle != INVALID_HANDLE_VALUE) {
		(void)CloseHandle(handle);
		return 0;
	}
	/* If it is a link, which is not followed, that is the better reason. */
	if (GetLastError() == ERROR_ALREADY_EXISTS &&
		(handle = win32_open(err, path, 0, OPENING_EXISTING)) != INVALID_HANDLE_VALUE)
		(void)CloseHandle(handle);
	return -1;
}

enum { MAX_TRIES = 100 };

/* Tries other letters while the name exists. */
static HANDLE make_new(struct jw_error *err, const char *path, char between, DWORD access,
					   enum win32_opening how, char **ret_name)
{
	char *name = mem_printf("%s%cXXXXXX", path, between);
	HANDLE made = INVALID_HANDLE_VALUE;

	for (int tries = 0; made == INVALID_HANDLE_VALUE && tries < MAX_TRIES; tries++) {
		if (path_choose_letters(err, path, name + strlen(name) - PATH_LETTERS))
			break;
		made = win32_open(err, name, access, how);
		if (made == INVALID_HANDLE_VALUE && GetLastError() != ERROR_ALREADY_EXISTS)
			break;
	}
	if (made == INVALID_HANDLE_VALUE)
		mem_free(name);
	else
		*ret_name = name;
	return made;
}

int path_make_file(struct jw_error *err, const char *path, char **ret_name)
{
	char *name;
	HANDLE made = make_new(err, path, '.', GENERIC_READ | GENERIC_WRITE, OPENING_NEW_FILE, &name);
	int fd = made == INVALID_HANDLE_VALUE ? -1 : descriptor_of(err, path, made);

	if (fd >= 0)
		*ret_name = name;
	else if (made != INVALID_HANDLE_VALUE)
		mem_free(name);
	return fd;
}

int path_make_folder(struct jw_error *err, const char *path, char **ret_name)
{
	HANDLE made = make_new(err, path, '-', 0, OPENING_NEW_FOLDER, ret_name);

	if (made == INVALID_HANDLE_VALUE)
		return -1;
	(void)CloseHandle(made);
	return 0;
}

bool path_is_link(const char *path)
{
	HANDLE handle = win32_open(NULL, path, 0, OPENING_LINK);
	const bool is = handle != INVALID_HANDLE_VALUE && win32_is_link(handle, path);

	if (handle != INVALID_HANDLE_VALUE)
		(void)CloseHandle(handle);
	return is;
}

static bool is_in_use(DWORD error)
{
	return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
}

/* Waits, since virus scanners and indexers briefly open a file that was just written. */
static bool wait_for_others(size_t tries)
{
	static const DWORD waits_ms[] = {1, 5, 20, 50, 100, 200};

	if (tries == sizeof waits_ms / sizeof *waits_ms)
		return false;
	Sleep(waits_ms[tries]);
	return true;
}

/* -1 with err and GetLastError() set. */
static int rename_once(struct jw_error *err, const char *from, const char *to)
{
	HANDLE file = win32_open(err, from, DELETE, OPENING_LINK);
	int result;

	if (file == INVALID_HANDLE_VALUE)
		return -1;
	result = win32_rename_to(err, file, to);
	win32_close(file);
	return result;
}

int os_rename(struct jw_error *err, const char *from, const char *to)
{
	struct jw_error why = {0};
	size_t tries = 0;

	while (rename_once(&why, from, to)) {
		if (is_in_use(GetLastError()) && wait_for_others(tries++))
			continue;
		if (is_in_use(GetLastError()))
			(void)error_prefix(&why,
							   "if a running program has it open, close the program and try again");
		return error_copy(err, &why);
	}
	return 0;
}

/* all bytes that the file may ever have */
static const DWORD whole = MAXDWORD;

int os_file_lock(struct jw_error *err, struct os_file *file, bool exclusive, bool *ret_held)
{
	DWORD flags = LOCKFILE_FAIL_IMMEDIATELY | (exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0);
	OVERLAPPED from_start = {0};

	/* A second lock by this process would conflict with the first one; with fcntl it would replace
	 * it. */
	if (file->locked && os_file_unlock(err, file))
		return -1;
	if (!LockFileEx(uv_get_osfhandle(file->fd), flags, 0, whole, whole, &from_start)) {
		if (GetLastError() != ERROR_LOCK_VIOLATION && GetLastError() != ERROR_IO_PENDING)
			return win32_error(err, file->path);
		*ret_held = false;
		return 0;
	}
	file->locked = true;
	*ret_held = true;
	return 0;
}

int os_file_unlock(struct jw_error *err, struct os_file *file)
{
	OVERLAPPED from_start = {0};

	if (!file->locked)
		return 0;
	if (!UnlockFileEx(uv_get_osfhandle(file->fd), 0, whole, whole, &from_start))
		return win32_error(err, file->path);
	file->locked = false;
	return 0;
}

void os_on_cut_file(void (*report)(const char *path))
{
	(void)report;
}

void *map_view(struct jw_error *err, int fd, const char *path, size_t size)
{
	HANDLE section = CreateFileMappingW(uv_get_osfhandle(fd), NULL, PAGE_READONLY, 0, 0, NULL);
	void *view = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, size) : NULL;

	if (!view)
		win32_error(err, path);
	/* The view keeps section and file open. */
	if (section)
		(void)CloseHandle(section);
	return view;
}

void map_unview(void *view, size_t size)
{
	(void)size;
	(void)UnmapViewOfFile(view);
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	const size_t page = 4096;
	size_t start = (offset + page - 1) / page * page, end = (offset + size) / page * page;

	/* Unlocking pages that are not locked removes them from the working set and fails with
	 * ERROR_NOT_LOCKED (documentation of VirtualUnlock, remarks). */
	if (map->handle && end > start && end <= map->size)
		(void)VirtualUnlock((uint8_t *)map->handle + start, end - start);
}
