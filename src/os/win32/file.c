#include "os/file.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "os/win32/win32.h"

const char os_list_separator = ';';
const char os_separator = '\\';

/* Others may do with a file what they like while we have it open, as on POSIX systems. */
enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static int stat_handle(struct jw_error *err, HANDLE handle, const char *path,
					   struct os_stat *ret_stat)
{
	BY_HANDLE_FILE_INFORMATION info;

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
	};
	return 0;
}

/* Opens what is there, directories too (FILE_FLAG_BACKUP_SEMANTICS). INVALID_HANDLE_VALUE and err
 * set on failure. */
static HANDLE open_existing(struct jw_error *err, const char *path, DWORD access)
{
	wchar_t *wide = win32_path(err, path);
	HANDLE handle = INVALID_HANDLE_VALUE;

	if (!wide)
		return handle;
	handle =
		CreateFileW(wide, access, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
	if (handle == INVALID_HANDLE_VALUE)
		win32_error(err, path);
	mem_free(wide);
	return handle;
}

int os_stat(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	HANDLE handle = open_existing(err, path, FILE_READ_ATTRIBUTES);
	int result;

	if (handle == INVALID_HANDLE_VALUE)
		return -1;
	result = stat_handle(err, handle, path, ret_stat);
	(void)CloseHandle(handle);
	return result;
}

/* Wine gives the last change for the birth, which so is none. */
static bool has_births(void)
{
	const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");

	return !ntdll || !GetProcAddress(ntdll, "wine_get_version");
}

uint64_t os_identity(const char *path)
{
	struct jw_error why = {0};
	HANDLE handle = open_existing(&why, path, FILE_READ_ATTRIBUTES);
	BY_HANDLE_FILE_INFORMATION info;
	uint64_t state = OS_UNIDENTIFIED;

	if (handle == INVALID_HANDLE_VALUE)
		return why.code == JW_ERR_NOT_FOUND ? 0 : OS_UNIDENTIFIED;
	/* What is made again at once is given the birth of the one before (tunnelling), but not its
	 * number. */
	if (has_births() && GetFileInformationByHandle(handle, &info)) {
		state = fnv_update(FNV_START, &info.nFileIndexHigh, sizeof info.nFileIndexHigh);
		state = fnv_update(state, &info.nFileIndexLow, sizeof info.nFileIndexLow);
		state = fnv_update(state, &info.ftCreationTime, sizeof info.ftCreationTime);
	}
	(void)CloseHandle(handle);
	return state;
}

static HANDLE open_regular(struct jw_error *err, const char *path, struct os_stat *ret_stat)
{
	HANDLE handle = open_existing(err, path, GENERIC_READ);

	if (handle == INVALID_HANDLE_VALUE)
		return handle;
	if (!stat_handle(err, handle, path, ret_stat)) {
		if (ret_stat->kind == OS_REGULAR)
			return handle;
		error_set(err, JW_ERR_UNSUPPORTED, "%s: %s", path,
				  ret_stat->kind == OS_DIRECTORY ? "is a directory" : "is no regular file");
	}
	(void)CloseHandle(handle);
	return INVALID_HANDLE_VALUE;
}

int os_map_open(struct jw_error *err, const char *path, struct os_map *ret_map)
{
	struct os_map map = {.data = (const uint8_t *)""};
	HANDLE file = open_regular(err, path, &map.stat), section = NULL;
	int result = -1;

	if (file == INVALID_HANDLE_VALUE)
		return -1;
	if (map.stat.size_bytes > SIZE_MAX / 2) {
		error_set(err, JW_ERR_LIMIT, "%s: too large to map", path);
		goto done;
	}
	if (map.stat.size_bytes) {
		section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
		map.size = (size_t)map.stat.size_bytes;
		map.handle = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, map.size) : NULL;
		if (!map.handle) {
			win32_error(err, path);
			goto done;
		}
		map.data = map.handle;
	}
	*ret_map = map;
	result = 0;
done:
	/* The view keeps section and file open. */
	if (section)
		(void)CloseHandle(section);
	(void)CloseHandle(file);
	return result;
}

void os_map_close(struct os_map *map)
{
	if (map->handle)
		(void)UnmapViewOfFile(map->handle);
	*map = (struct os_map){0};
}

void os_map_forget(const struct os_map *map, size_t offset, size_t size)
{
	const size_t page = 4096;
	size_t start = (offset + page - 1) / page * page, end = (offset + size) / page * page;

	/* Unlocking pages that nobody locked takes them out of the working set and fails with
	 * ERROR_NOT_LOCKED (documentation of VirtualUnlock, remarks). */
	if (map->handle && end > start && end <= map->size)
		(void)VirtualUnlock((uint8_t *)map->handle + start, end - start);
}

/* One call transfers at most this much; DWORD is the limit of the system's functions. */
enum { MOST_STEP = 1 << 30 };

static int read_at(struct jw_error *err, HANDLE handle, const char *path, uint64_t offset,
				   void *data, size_t size, size_t *ret_got)
{
	size_t done = 0;

	while (done < size) {
		DWORD step = size - done > MOST_STEP ? MOST_STEP : (DWORD)(size - done), got = 0;
		OVERLAPPED place = {0};

		place.Offset = (DWORD)(offset + done);
		place.OffsetHigh = (DWORD)((offset + done) >> 32);
		if (!ReadFile(handle, (uint8_t *)data + done, step, &got, &place)) {
			if (GetLastError() != ERROR_HANDLE_EOF)
				return win32_error(err, path);
			got = 0;
		}
		if (!got)
			break;
		done += got;
	}
	*ret_got = done;
	return 0;
}

static int write_at(struct jw_error *err, HANDLE handle, const char *path, uint64_t offset,
					const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		DWORD step = size - done > MOST_STEP ? MOST_STEP : (DWORD)(size - done), put = 0;
		OVERLAPPED place = {0};

		place.Offset = (DWORD)(offset + done);
		place.OffsetHigh = (DWORD)((offset + done) >> 32);
		if (!WriteFile(handle, (const uint8_t *)data + done, step, &put, &place))
			return win32_error(err, path);
		if (!put)
			return os_error_number(err, path, ERROR_DISK_FULL);
		done += put;
	}
	return 0;
}

/* Locks are binding here: while a driver holds the index, for milliseconds, nobody else can read
 * it.
 */
static int read_unlocked(struct jw_error *err, HANDLE handle, const char *path, void *data,
						 size_t size, size_t *ret_got)
{
	enum { TRIES = 50, WAIT_MS = 10 };

	for (int tries = 0;; tries++) {
		if (!read_at(err, handle, path, 0, data, size, ret_got))
			return 0;
		if (GetLastError() != ERROR_LOCK_VIOLATION || tries == TRIES)
			return -1;
		Sleep(WAIT_MS);
	}
}

int os_read_file(struct jw_error *err, const char *path, size_t most, struct buf *ret_content)
{
	struct buf content = BUF_MAX(most);
	struct os_stat stat;
	HANDLE handle = open_regular(err, path, &stat);
	int result = -1;
	size_t got = 0;

	if (handle == INVALID_HANDLE_VALUE)
		return -1;
	if (stat.size_bytes > most) {
		error_set(err, JW_ERR_LIMIT, "%s: more than %zu bytes", path, most);
		goto done;
	}
	if (buf_reserve(err, &content, (size_t)stat.size_bytes) ||
		read_unlocked(err, handle, path, content.data, (size_t)stat.size_bytes, &got))
		goto done;
	content.size = got;
	content.data[got] = 0;
	*ret_content = content;
	content = (struct buf){0};
	result = 0;
done:
	buf_free(&content);
	(void)CloseHandle(handle);
	return result;
}

/* ---- files open for writing in place */

int os_file_open(struct jw_error *err, const char *path, enum os_open how,
				 struct os_file **ret_file)
{
	DWORD access = GENERIC_READ | (how == OS_OPEN_READ ? 0 : GENERIC_WRITE);
	struct os_file *file = mem_alloc(err, sizeof *file);
	wchar_t *wide = win32_path(err, path);
	int result = -1;

	if (!file || !wide)
		goto done;
	file->handle = INVALID_HANDLE_VALUE;
	file->path = mem_string(err, path);
	if (!file->path)
		goto done;
	file->handle = CreateFileW(wide, access, SHARE_ALL, NULL,
							   how == OS_OPEN_CREATE ? OPEN_ALWAYS : OPEN_EXISTING,
							   FILE_ATTRIBUTE_NORMAL, NULL);
	if (file->handle == INVALID_HANDLE_VALUE) {
		win32_error(err, path);
		goto done;
	}
	*ret_file = file;
	file = NULL;
	result = 0;
done:
	if (file)
		mem_free(file->path);
	mem_free(file);
	mem_free(wide);
	return result;
}

void os_file_close(struct os_file *file)
{
	if (!file)
		return;
	/* The system lets go of the lock by itself, but says that it may take its time. */
	if (file->locked)
		(void)os_file_unlock(NULL, file);
	(void)CloseHandle(file->handle);
	mem_free(file->path);
	mem_free(file);
}

int os_file_stat(struct jw_error *err, struct os_file *file, struct os_stat *ret_stat)
{
	return stat_handle(err, file->handle, file->path, ret_stat);
}

int os_file_size(struct jw_error *err, struct os_file *file, uint64_t *ret_size)
{
	LARGE_INTEGER size;

	if (!GetFileSizeEx(file->handle, &size))
		return win32_error(err, file->path);
	*ret_size = (uint64_t)size.QuadPart;
	return 0;
}

int os_file_read(struct jw_error *err, struct os_file *file, uint64_t offset, void *data,
				 size_t size, size_t *ret_got)
{
	return read_at(err, file->handle, file->path, offset, data, size, ret_got);
}

int os_file_write(struct jw_error *err, struct os_file *file, uint64_t offset, const void *data,
				  size_t size)
{
	return write_at(err, file->handle, file->path, offset, data, size);
}

int os_file_truncate(struct jw_error *err, struct os_file *file, uint64_t size)
{
	FILE_END_OF_FILE_INFO info = {.EndOfFile.QuadPart = (LONGLONG)size};

	if (!SetFileInformationByHandle(file->handle, FileEndOfFileInfo, &info, sizeof info))
		return win32_error(err, file->path);
	return 0;
}

int os_file_set_mtime(struct jw_error *err, struct os_file *file, int64_t mtime_ns)
{
	FILETIME time = win32_file_time(mtime_ns);

	return SetFileTime(file->handle, NULL, NULL, &time) ? 0 : win32_error(err, file->path);
}

int os_file_sync(struct jw_error *err, struct os_file *file)
{
	return FlushFileBuffers(file->handle) ? 0 : win32_error(err, file->path);
}

/* Creates PATH.RANDOM; *ret_name is the caller's to free. */
static HANDLE create_beside(struct jw_error *err, const char *path, char **ret_name)
{
	for (int tries = 0;; tries++) {
		HANDLE handle = INVALID_HANDLE_VALUE;
		char random[7], *name;
		wchar_t *wide;

		win32_random_name(random);
		name = mem_printf(err, "%s.%s", path, random);
		wide = name ? win32_path(err, name) : NULL;
		if (wide) {
			handle = CreateFileW(wide, GENERIC_WRITE | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE,
								 NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
			if (handle == INVALID_HANDLE_VALUE)
				win32_error(err, path);
			else
				*ret_name = name;
		}
		mem_free(wide);
		if (handle != INVALID_HANDLE_VALUE)
			return handle;
		mem_free(name);
		if (!wide || GetLastError() != ERROR_FILE_EXISTS || tries == 100)
			return INVALID_HANDLE_VALUE;
	}
}

int os_write_atomic(struct jw_error *err, const char *path, const void *data, size_t size)
{
	char *temporary = NULL;
	HANDLE handle = create_beside(err, path, &temporary);
	int result;

	if (handle == INVALID_HANDLE_VALUE)
		return -1;
	result = write_at(err, handle, path, 0, data, size);
	(void)CloseHandle(handle);
	if (!result)
		result = os_rename(err, temporary, path);
	if (result)
		(void)os_remove(NULL, temporary);
	mem_free(temporary);
	return result;
}

/* Folders below a user's profile let in nobody else. */
int os_write_secret(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return os_write_atomic(err, path, data, size);
}

/* What is renamed into place takes over nothing from the file that was there; ours all inherit from
 * their folder. */
int os_rewrite(struct jw_error *err, const char *path, const void *data, size_t size)
{
	return os_write_atomic(err, path, data, size);
}
