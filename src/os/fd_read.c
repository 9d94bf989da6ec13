/* What both systems do with open streams alike. */
#include "os/system.h"

int os_fd_read(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	size_t done = 0, got = 1;

	for (; done < size && got; done += got)
		if (os_fd_read_some(err, fd, (uint8_t *)data + done, size - done, &got))
			return -1;
	*ret_got = done;
	return 0;
}
