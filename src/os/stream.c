#include "os/stream.h"

#include "os/uv.h"

int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	int got = os_uv_read(err, "read", fd, data, size, -1);

	if (got < 0)
		return -1;
	*ret_got = (size_t)got;
	return 0;
}

int os_fd_read(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	size_t done = 0, got = 1;

	for (; done < size && got; done += got)
		if (os_fd_read_some(err, fd, (uint8_t *)data + done, size - done, &got))
			return -1;
	*ret_got = done;
	return 0;
}

int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size)
{
	return os_uv_write(err, "write", fd, data, size, -1);
}
