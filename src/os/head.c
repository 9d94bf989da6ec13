#include "os/file.h"

size_t os_read_head(const char *path, void *bytes, size_t size)
{
	struct os_file *file;
	size_t got;

	if (os_file_open(NULL, path, OS_OPEN_READ, &file))
		return 0;
	if (os_file_read(NULL, file, 0, bytes, size, &got))
		got = 0;
	os_file_close(file);
	return got;
}
