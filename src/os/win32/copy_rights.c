#include "os/file.h"

#include "base/mem.h"
#include "os/win32/win32.h"

enum { MOST_DESCRIPTOR = 64 << 10 };

/* The access list alone: who may not make another account the owner keeps working. */
int os_copy_rights(struct jw_error *err, const char *from, const char *to)
{
	wchar_t *source = win32_path(err, from), *target = win32_path(err, to);
	void *descriptor = source && target ? mem_alloc(err, MOST_DESCRIPTOR) : NULL;
	DWORD size;
	int result = -1;

	if (!descriptor)
		goto done;
	if (!GetFileSecurityW(source, DACL_SECURITY_INFORMATION, descriptor, MOST_DESCRIPTOR, &size))
		win32_error(err, from);
	else if (!SetFileSecurityW(target, DACL_SECURITY_INFORMATION, descriptor))
		win32_error(err, to);
	else
		result = 0;
done:
	mem_free(descriptor);
	mem_free(source);
	mem_free(target);
	return result;
}
