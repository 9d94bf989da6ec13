#include "os/console.h"

#include <uv.h>

#include "os/path_calls.h"
#include "os/uv.h"

bool os_is_terminal(int fd)
{
	return uv_guess_handle(fd) == UV_TTY;
}

enum { READER_MS = 2000, READER_STEP_MS = 10 };

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

static int refuse_sink(struct jw_error *err, const char *path, const char *why)
{
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: %s", path, why);
}

/* Without waiting: a pipe that nobody reads is an error then. */
static int open_read_pipe(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};
	int fd = -1;

	for (unsigned waited = 0; fd < 0 && waited <= READER_MS; waited += READER_STEP_MS) {
		fd = path_open(&why, path, UV_FS_O_WRONLY | UV_FS_O_NONBLOCK);
		if (fd < 0 && why.code != JW_ERR_BUSY)
			return error_copy(err, &why);
		if (fd < 0)
			uv_sleep(READER_STEP_MS);
	}
	return fd < 0 ? refuse_sink(err, path, "is a pipe that no other process reads") : fd;
}

static int open_sink(struct jw_error *err, const char *path, enum os_kind kind)
{
	int reader = kind == OS_PIPE ? open_read_pipe(err, path) : -1, fd;
	struct os_stat stat;

	if (kind == OS_PIPE && reader < 0)
		return -1;
	/* Waits when it is written to */
	fd = path_open(err, path, UV_FS_O_WRONLY);
	if (reader >= 0)
		(void)close_fd(NULL, path, reader);
	if (fd >= 0 && (fd_stat(err, fd, path, &stat) ||
					(stat.kind != kind && refuse_sink(err, path, "was replaced meanwhile")))) {
		(void)close_fd(NULL, path, fd);
		fd = -1;
	}
	return fd;
}

int os_sink_open(struct jw_error *err, const char *path, int *ret_fd)
{
	struct os_stat stat;
	int fd = -1;

	if (!os_stat(NULL, path, &stat) && stat.kind != OS_REGULAR) {
		if (stat.kind == OS_DIRECTORY)
			return refuse_sink(err, path, "Is a directory");
		if (stat.kind == OS_OTHER)
			return refuse_sink(err, path, "is a disk or a socket: not written to");
		fd = open_sink(err, path, stat.kind);
		if (fd < 0)
			return -1;
	}
	*ret_fd = fd;
	return 0;
}

int os_sink_write(struct jw_error *err, const char *path, int fd, const void *data, size_t size)
{
	return os_uv_write(err, path, fd, data, size, -1);
}

void os_sink_close(const char *path, int fd)
{
	if (fd >= 0)
		(void)close_fd(NULL, path, fd);
}
