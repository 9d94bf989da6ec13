#include "os/uv.h"

#include "base/mem.h"
#include <string.h>

/* The most bytes that one call transfers: Windows refuses more on network drives. */
enum { MAX_STEP = 1 << 24 };

int os_loop_open(struct jw_error *err, uv_loop_t *ret_loop)
{
	uv_file ends[4] = {-1, -1, -1, -1};
	/* The first loop aborts without a descriptor for itself and two for the pipe of signals. */
	int failed = uv_pipe(ends, 0, 0);

	if (!failed)
		failed = uv_pipe(ends + 2, 0, 0);
	for (size_t i = 0; i < 4 && ends[i] >= 0; i++) {
		uv_fs_t request;

		(void)uv_fs_close(NULL, &request, ends[i], NULL);
		uv_fs_req_cleanup(&request);
	}
	if (!failed)
		failed = uv_loop_init(ret_loop);
	return failed ? error_set(err, JW_ERR_IO, "no event loop can be made: %s", uv_strerror(failed))
				  : 0;
}

int os_uv_result(struct jw_error *err, const char *path, uv_fs_t *request, int got)
{
	/* A request without a result ran out of memory. */
	int number = request->result < 0 ? uv_fs_get_system_error(request) : 0;

	uv_fs_req_cleanup(request);
	if (got >= 0)
		return got;
	if (!number)
		mem_ended(0);
	return os_error_number(err, path, number);
}

static uv_buf_t step_of(void *data, size_t size)
{
	return uv_buf_init(data, size > MAX_STEP ? MAX_STEP : (unsigned)size);
}

int os_uv_read(struct jw_error *err, const char *path, int fd, void *data, size_t size,
			   int64_t offset)
{
	uv_buf_t step = step_of(data, size);
	uv_fs_t request;
	int got, tries = 0;

	/* Windows' locks are mandatory: while a driver holds the index, for milliseconds, no other
	 * process can read it. */
	while ((got = uv_fs_read(NULL, &request, fd, &step, 1, offset, NULL)) == UV_EINTR ||
		   (got == UV_EBUSY && tries++ < 50)) {
		uv_fs_req_cleanup(&request);
		if (got == UV_EBUSY)
			uv_sleep(10);
	}
	return os_uv_result(err, path, &request, got);
}

int os_uv_write(struct jw_error *err, const char *path, int fd, const void *data, size_t size,
				int64_t offset)
{
	union {
		const void *given;
		uint8_t *wanted; /* libuv's type; it does not write there */
	} from = {.given = data};

	for (size_t done = 0; done < size;) {
		uv_buf_t step = step_of(from.wanted + done, size - done);
		uv_fs_t request;
		int put = uv_fs_write(NULL, &request, fd, &step, 1,
							  offset < 0 ? -1 : offset + (int64_t)done, NULL);

		put = os_uv_result(err, path, &request, put);
		if (put < 0)
			return -1;
		if (!put)
			return error_set(err, JW_ERR_IO, "%s: No space left on device", path);
		done += (size_t)put;
	}
	return 0;
}

enum { STACK_BYTES = 8 << 20 };

int os_thread_start(uv_thread_t *ret_thread, uv_thread_cb run, void *context)
{
	const uv_thread_options_t how = {.flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES};

	return uv_thread_create_ex(ret_thread, &how, run, context);
}

void os_mutex_make(uv_mutex_t *ret_mutex)
{
	if (uv_mutex_init(ret_mutex))
		mem_ended(0);
}

void os_cond_make(uv_cond_t *ret_cond)
{
	if (uv_cond_init(ret_cond))
		mem_ended(0);
}

int os_spawn(uv_loop_t *loop, uv_process_t *process, const struct os_spawn *how)
{
	uv_stdio_container_t streams[3];
	const uv_process_options_t options = {
		.exit_cb = how->ended,
		.file = how->program,
		/* libuv's prototype wants char *; it does not write to them. */
		.args = (char **)(uintptr_t)how->arguments,
		.env = how->environment,
		.cwd = how->folder,
		.flags = how->has_console ? 0 : UV_PROCESS_WINDOWS_HIDE,
		.stdio_count = 3,
		.stdio = streams,
	};

	memcpy(streams, how->streams, sizeof streams);
	return uv_spawn(loop, process, &options);
}
