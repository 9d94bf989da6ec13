#include "base/mem.h"
#include "os/library.h"
#include "os/win32/win32.h"

/* A version resource is a few hundred bytes. */
enum { MOST_BYTES = 1 << 20 };

int os_file_version(struct jw_error *err, const char *path, uint16_t ret_numbers[4])
{
	wchar_t *wide = win32_plain_path(err, path);
	DWORD size = wide ? GetFileVersionInfoSizeExW(FILE_VER_GET_NEUTRAL, wide, NULL) : 0;
	void *data = size && size < MOST_BYTES ? mem_alloc(err, size) : NULL;
	void *found = NULL;
	UINT length = 0;
	int result = -1;

	if (!wide)
		return -1;
	if (data && GetFileVersionInfoExW(FILE_VER_GET_NEUTRAL, wide, 0, size, data) &&
		VerQueryValueW(data, L"\\", &found, &length) && length >= sizeof(VS_FIXEDFILEINFO)) {
		const VS_FIXEDFILEINFO *info = found;

		ret_numbers[0] = HIWORD(info->dwFileVersionMS);
		ret_numbers[1] = LOWORD(info->dwFileVersionMS);
		ret_numbers[2] = HIWORD(info->dwFileVersionLS);
		ret_numbers[3] = LOWORD(info->dwFileVersionLS);
		result = 0;
	} else {
		error_set(err, JW_ERR_NOT_FOUND, "%s: no version in it", path);
	}
	mem_free(data);
	mem_free(wide);
	return result;
}
