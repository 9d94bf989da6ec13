#include "os/console.h"

#include <uv.h>

#include "os/uv.h"

bool os_is_terminal(int fd)
{
	return uv_guess_handle(fd) == UV_TTY;
}

int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	int got = os_uv_read(err, "read", fd, data, size, -1);

	if (got < 0)
		return -1;
	*ret_got = (size_t)got;
	return 0;
}

int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size)
{
	return os_uv_write(err, "write", fd, data, size, -1);
}
