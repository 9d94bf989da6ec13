#include "os/win32/links.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "os/win32/win32.h"

/* Source: Microsoft, "[MS-FSCC] Reparse Tags", 2.1.2.4 and 2.1.2.5: tag, length, reserved, and then
 * offset and length of the substitute name and of the name that is shown, behind which a symbolic
 * link has flags. The names follow. */
enum {
	AT_NAME = 8,
	AT_FLAGS = 16,
	JUNCTION_NAMES = 16,
	SYMLINK_NAMES = 20,
	FLAG_RELATIVE = 1,
};

wchar_t *win32_link_target(struct jw_error *err, const char *path, const void *data, size_t size,
						   bool *ret_relative)
{
	const uint8_t *bytes = data;
	const uint32_t tag = size >= SYMLINK_NAMES ? load_u32(bytes) : 0;
	const size_t names = tag == IO_REPARSE_TAG_SYMLINK       ? SYMLINK_NAMES
						 : tag == IO_REPARSE_TAG_MOUNT_POINT ? JUNCTION_NAMES
															 : 0;
	const uint32_t place = names ? load_u32(bytes + AT_NAME) : 0;
	const size_t offset = names + (place & UINT16_MAX), length = place >> 16;
	const bool relative = names == SYMLINK_NAMES && load_u32(bytes + AT_FLAGS) & FLAG_RELATIVE;
	wchar_t *target;

	if (!length || length % sizeof *target || length > size || offset > size - length) {
		error_set(err, JW_ERR_FORMAT, "%s: a link of an unknown kind", path);
		return NULL;
	}
	target = mem_array(err, length / sizeof *target + 1, sizeof *target);
	if (!target)
		return NULL;
	memcpy(target, bytes + offset, length);
	if (wcslen(target) != length / sizeof *target ||
		(!relative && wcsncmp(target, L"\\??\\", 4) != 0)) {
		error_set(err, JW_ERR_FORMAT, "%s: a link of an unknown kind", path);
		mem_free(target);
		return NULL;
	}
	*ret_relative = relative;
	return target;
}
