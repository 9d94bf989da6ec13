#include "os/posix/posix.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"

/* The largest file that is read as text. */
enum { MOST_TEXT = 65536 };

char *posix_system_path(const char *path)
{
	const char *root = getenv("JITWARM_SYSTEM_ROOT");

	return mem_printf(NULL, "%s%s", root ? root : "", path);
}

bool posix_kernel_text(struct buf *text, const char *format, ...)
{
	char *path, *whole;
	va_list arguments;
	bool read;

	va_start(arguments, format);
	path = mem_vprintf(NULL, format, arguments);
	va_end(arguments);
	whole = path ? posix_system_path(path) : NULL;
	read = whole && !os_read_file(NULL, whole, MOST_TEXT, text);
	mem_free(whole);
	mem_free(path);
	return read;
}
