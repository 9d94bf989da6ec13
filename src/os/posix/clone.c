#include <linux/fs.h>
#include <sys/ioctl.h>

#include "os/open_file.h"

bool os_file_clone(struct os_file *from, struct os_file *to)
{
	return !ioctl(to->fd, FICLONE, from->fd);
}
