#include "os/ask_program.h"

#include <string.h>

#include "os/interrupt.h"
#include "os/uv.h"

enum { POLL_MS = 50 };

struct asking {
	const struct os_question *question;
	uv_loop_t loop;
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t timer;
	uv_write_t write;
	char room[4096];
	uint64_t waited_ms;
	int64_t status;
	int signal;
	bool ended, closed; /* the program; its output */
	struct jw_error why;
};

static void give_up_asking(struct asking *asking)
{
	asking->closed = true;
	if (asking->ended)
		uv_stop(&asking->loop);
	else
		(void)uv_process_kill(&asking->process, 9);
}

static void on_helper_exit(uv_process_t *process, int64_t status, int signal)
{
	struct asking *asking = process->data;

	asking->status = status;
	asking->signal = signal;
	asking->ended = true;
	if (asking->closed)
		uv_stop(&asking->loop);
}

static void on_helper_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct asking *asking = handle->data;

	(void)suggested;
	*buf = uv_buf_init(asking->room, sizeof asking->room);
}

static void on_helper_answer(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
	struct asking *asking = stream->data;

	if (got < 0) {
		asking->closed = true;
		(void)uv_read_stop(stream);
		if (asking->ended)
			uv_stop(&asking->loop);
	} else if (got > 0 &&
			   buf_append(&asking->why, asking->question->answer, buf->base, (size_t)got)) {
		give_up_asking(asking);
	}
}

/* Also ends the wait where a grandchild keeps the output open. */
static void on_helper_tick(uv_timer_t *timer)
{
	struct asking *asking = timer->data;

	asking->waited_ms += POLL_MS;
	if (cancel_asked(asking->question->cancel))
		error_set(&asking->why, JW_ERR_INTERRUPTED, "interrupted");
	else if (asking->waited_ms > asking->question->timeout_ms)
		error_set(&asking->why, JW_ERR_LIMIT, "%s: no answer within %u ms",
				  asking->question->arguments[0], asking->question->timeout_ms);
	else
		return;
	give_up_asking(asking);
}

static void on_helper_written(uv_write_t *request, int status)
{
	(void)status;
	if (!uv_is_closing((uv_handle_t *)request->handle))
		uv_close((uv_handle_t *)request->handle, NULL);
}

static int start_asking(struct jw_error *err, struct asking *asking)
{
	const struct os_question *question = asking->question;
	uv_stdio_container_t streams[3] = {
		{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&asking->in},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&asking->out},
		{.flags = question->mute ? UV_IGNORE : UV_INHERIT_FD, .data.fd = 2},
	};
	const uv_process_options_t how = {.exit_cb = on_helper_exit,
									  .file = question->arguments[0],
									  .args = (char **)(uintptr_t)question->arguments,
									  .cwd = question->folder,
									  .flags = UV_PROCESS_WINDOWS_HIDE,
									  .stdio_count = 3,
									  .stdio = streams};
	uv_buf_t input =
		uv_buf_init((char *)(uintptr_t)question->input, (unsigned)strlen(question->input));
	int failed = uv_spawn(&asking->loop, &asking->process, &how);

	if (failed)
		return error_set(err, JW_ERR_IO, "%s: %s", question->arguments[0], uv_strerror(failed));
	(void)uv_timer_start(&asking->timer, on_helper_tick, POLL_MS, POLL_MS);
	(void)uv_read_start((uv_stream_t *)&asking->out, on_helper_room, on_helper_answer);
	if (uv_write(&asking->write, (uv_stream_t *)&asking->in, &input, 1, on_helper_written))
		uv_close((uv_handle_t *)&asking->in, NULL);
	return 0;
}

static void close_asking_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

int os_ask_program(struct jw_error *err, const struct os_question *question, int *ret_status)
{
	struct asking asking = {.question = question};
	int result;

	os_ignore_broken_pipes(); /* a program need not read its input */
	if (uv_loop_init(&asking.loop))
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	(void)uv_pipe_init(&asking.loop, &asking.in, 0);
	(void)uv_pipe_init(&asking.loop, &asking.out, 0);
	(void)uv_timer_init(&asking.loop, &asking.timer);
	asking.process.data = asking.in.data = asking.out.data = asking.timer.data = &asking;
	result = start_asking(err, &asking);
	if (!result)
		(void)uv_run(&asking.loop, UV_RUN_DEFAULT);
	uv_walk(&asking.loop, close_asking_handle, NULL);
	(void)uv_run(&asking.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&asking.loop);
	if (!result && asking.why.code)
		result = error_copy(err, &asking.why);
	if (!result)
		*ret_status = asking.signal ? 128 : (int)asking.status;
	return result;
}
