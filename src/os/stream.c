#include "os/stream.h"

#include <stdint.h>

#include "os/uv.h"

/* One call transfers at most this much. */
enum { MOST_STEP = 1 << 20 };

static uv_buf_t step_of(void *data, size_t size)
{
	return uv_buf_init(data, size > MOST_STEP ? MOST_STEP : (unsigned)size);
}

int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got)
{
	uv_buf_t step = step_of(data, size);
	uv_fs_t request;
	int got;

	do
		got = uv_fs_read(NULL, &request, fd, &step, 1, -1, NULL);
	while (got == UV_EINTR);
	if (got < 0)
		return os_uv_failed(err, "read", &request);
	uv_fs_req_cleanup(&request);
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
	union {
		const void *given;
		uint8_t *wanted; /* libuv's type; it does not write there */
	} from = {.given = data};

	for (size_t done = 0; done < size;) {
		uv_buf_t step = step_of(from.wanted + done, size - done);
		uv_fs_t request;
		int put = uv_fs_write(NULL, &request, fd, &step, 1, -1, NULL);

		if (put < 0)
			return os_uv_failed(err, "write", &request);
		uv_fs_req_cleanup(&request);
		done += (size_t)put;
	}
	return 0;
}
