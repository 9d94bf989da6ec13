#include "os/file.h"

#include "os/open_file.h"
#include "os/win32/win32.h"

/* From the first byte to any that the file may ever have. */
static const DWORD whole = MAXDWORD;

int os_file_lock(struct jw_error *err, struct os_file *file, bool exclusive, bool *ret_held)
{
	DWORD flags = LOCKFILE_FAIL_IMMEDIATELY | (exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0);
	OVERLAPPED from_start = {0};

	/* A second lock of ours would conflict with the first one; with fcntl it would replace it. */
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
