#include "os/file.h"

#include "base/hash.h"
#include "base/mem.h"
#include "os/open_file.h"
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

/* Wine reports the last change as the time of creation. */
static bool has_births(void)
{
	const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");

	return !ntdll || !GetProcAddress(ntdll, "wine_get_version");
}

uint64_t os_identity(const char *path)
{
	struct jw_error why = {0};
	HANDLE handle = win32_open(&why, path, FILE_READ_ATTRIBUTES, OPENING_EXISTING);
	BY_HANDLE_FILE_INFORMATION info;
	uint64_t state = OS_UNIDENTIFIED;

	if (handle == INVALID_HANDLE_VALUE)
		return why.code == JW_ERR_NOT_FOUND ? 0 : OS_UNIDENTIFIED;
	/* A file that is recreated at once gets the former one's time of creation (tunnelling), but
	 * another number. */
	if (has_births() && GetFileInformationByHandle(handle, &info)) {
		state = fnv_update(FNV_START, &info.nFileIndexHigh, sizeof info.nFileIndexHigh);
		state = fnv_update(state, &info.nFileIndexLow, sizeof info.nFileIndexLow);
		state = fnv_update(state, &info.ftCreationTime, sizeof info.ftCreationTime);
	}
	(void)CloseHandle(handle);
	return state;
}

int os_file_set_mtime(struct jw_error *err, struct os_file *file, int64_t mtime_ns)
{
	FILETIME time = win32_file_time(mtime_ns);

	return SetFileTime(uv_get_osfhandle(file->fd), NULL, NULL, &time)
			   ? 0
			   : win32_error(err, file->path);
}

int os_set_mode(struct jw_error *err, const char *path, uint32_t mode)
{
	(void)err;
	(void)path;
	(void)mode;
	return 0;
}
