#include <fcntl.h>

#include "os/open_file.h"

void os_file_write_back(struct os_file *file, uint64_t offset, uint64_t size)
{
	(void)sync_file_range(file->fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
}
