#include "driver/child.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/child_variables.h"
#include "os/env.h"
#include "os/interrupt.h"
#include "os/uv.h"

enum {
	READ_STEP = 64 << 10,
	MAX_OUTPUT = 8 << 10,
	MAX_TRIES = 5,
	FIRST_PAUSE_MS = 25,
	/* process, stdin, stdout, stderr, clock: each closes separately, and the child is freed after
	 * the last one */
	HANDLES = 5,
	/* The wait for the end of a killed process. One that hangs in the kernel (in the driver) does
	 * not die of SIGKILL, and children of the driver may hold a dead worker's pipes open. */
	KILL_MS = 2000,
};

struct child {
	struct child_events events;
	uv_process_t process;
	uv_pipe_t in, out, said;
	uv_timer_t clock;
	unsigned open_handles; /* how many handles are not closed yet */
	unsigned running;      /* how many of process, stdout and stderr have not ended */
	bool greeted;
	bool exited;
	struct child_end how;
	struct buf line;
	struct buf words;
	char why[256];
	char *read_buffer;
};

static void on_closed(uv_handle_t *handle)
{
	struct child *child = handle->data;

	if (--child->open_handles)
		return;
	child->how.said = buf_text(&child->words);
	child->how.protocol = child->why;
	if (child->events.end)
		child->events.end(child->events.context, child, &child->how);
	buf_free(&child->line);
	buf_free(&child->words);
	mem_free(child->read_buffer);
	mem_free(child);
}

static void close_handles(struct child *child)
{
	uv_handle_t *const handles[HANDLES] = {
		(uv_handle_t *)&child->process, (uv_handle_t *)&child->in, (uv_handle_t *)&child->out,
		(uv_handle_t *)&child->said, (uv_handle_t *)&child->clock};

	for (size_t i = 0; i < HANDLES; i++)
		if (!uv_is_closing(handles[i]))
			uv_close(handles[i], on_closed);
}

/* Called when the process or one of its pipes has ended; after the last one, all output has been
 * read. */
static void part_ended(struct child *child)
{
	if (!--child->running)
		close_handles(child);
}

static void on_kill_timeout(uv_timer_t *clock)
{
	struct child *child = clock->data;

	child->how.stuck = !child->exited;
	close_handles(child);
}

static void start_kill_timer(struct child *child)
{
	const uv_handle_t *clock = (const uv_handle_t *)&child->clock;

	if (!uv_is_closing(clock) && !uv_is_active(clock))
		(void)uv_timer_start(&child->clock, on_kill_timeout, KILL_MS, 0);
}

static void on_child_exit(uv_process_t *process, int64_t status, int signal)
{
	struct child *child = process->data;

	child->exited = true;
	child->how.exit_status = (int)status;
	child->how.signal = signal;
	start_kill_timer(child);
	part_ended(child);
}

/* After the wait, the process's number may belong to another process. */
static void end_process(struct child *child)
{
	if (!child->exited)
		(void)uv_process_kill(&child->process, SIGKILL);
	start_kill_timer(child);
}

/* Ends a worker with malformed answers; its job counts as one that killed it. */
void child_distrust(struct child *child, const char *why)
{
	if (!child->why[0])
		TEXT_COPY(child->why, why);
	end_process(child);
}

/* Passes a line of the worker to the event for it. The first line is the hello; a line that cannot
 * be read ends the worker. */
static void take_worker_line(struct child *child, const char *line, size_t size)
{
	struct protocol_hello hello = {0};
	struct protocol_answer answer = {0};
	struct jw_error err = {0};

	if (child->how.killed || child->why[0])
		return;
	if (child->events.line) {
		if (child->events.line(&err, child->events.context, line, size))
			child_distrust(child, err.message);
		return;
	}
	if (!child->greeted) {
		child->greeted = true;
		if (protocol_get_hello(&err, line, size, &hello))
			child_distrust(child, err.message);
		else if (child->events.hello)
			child->events.hello(child->events.context, child, &hello);
		return;
	}
	if (protocol_get_answer(&err, line, size, &answer))
		child_distrust(child, err.message);
	else if (child->events.answer)
		child->events.answer(child->events.context, child, &answer);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
	struct child *child = handle->data;

	(void)suggested;
	*ret_buffer = uv_buf_init(child->read_buffer, READ_STEP);
}

/* Ends the process, because a worker whose output cannot be read would be waited for. */
static void pipe_ended(struct child *child, uv_stream_t *stream, ssize_t why)
{
	if (why != UV_EOF)
		child_distrust(child, uv_strerror((int)why));
	(void)uv_read_stop(stream);
	part_ended(child);
}

static void on_answer_line(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct child *child = stream->data;
	struct jw_error err = {0};
	const uint8_t *end;
	size_t used = 0;

	if (got < 0)
		pipe_ended(child, stream, got);
	if (got <= 0)
		return;
	if (buf_append(&err, &child->line, buffer->base, (size_t)got)) {
		child_distrust(child, err.message);
		return;
	}
	while ((end = memchr(child->line.data + used, '\n', child->line.size - used))) {
		const uint8_t *start = child->line.data + used;

		take_worker_line(child, (const char *)start, (size_t)(end - start));
		used += (size_t)(end - start) + 1;
	}
	memmove(child->line.data, child->line.data + used, child->line.size - used);
	child->line.size -= used;
}

/* Keeps the end of the worker's stderr: the driver's last output before a crash. */
static void on_words(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct child *child = stream->data;
	size_t fresh = got > 0 ? (size_t)got : 0,
		   skip = fresh > MAX_OUTPUT / 2 ? fresh - MAX_OUTPUT / 2 : 0;

	if (got < 0) {
		pipe_ended(child, stream, got);
		return;
	}
	fresh -= skip;
	if (child->words.size + fresh > MAX_OUTPUT) {
		memmove(child->words.data, child->words.data + child->words.size - MAX_OUTPUT / 2,
				MAX_OUTPUT / 2);
		child->words.size = MAX_OUTPUT / 2;
	}
	(void)buf_append(NULL, &child->words, buffer->base + skip, fresh);
}

/* Sets *ret_passing if a later attempt may succeed. */
static int start_once(struct jw_error *err, uv_loop_t *loop, const struct child_setup *setup,
					  const struct child_events *events, char **environment, bool *ret_passing,
					  struct child **ret_child)
{
	struct child *child = mem_alloc(sizeof *child);
	const struct os_spawn how = {
		.program = setup->command[0],
		.arguments = setup->command,
		.environment = environment,
		.streams = {{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
					 .data.stream = (uv_stream_t *)&child->in},
					{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
					 .data.stream = (uv_stream_t *)&child->out},
					{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
					 .data.stream = (uv_stream_t *)&child->said}},
		.ended = on_child_exit,
	};
	int result;

	child->read_buffer = mem_alloc(READ_STEP);
	child->events = *events;
	child->line = BUF_MAX(PROTOCOL_MAX_LINE);
	child->words = BUF_MAX(2 * MAX_OUTPUT);
	child->open_handles = HANDLES;
	child->running = 3;
	/* Creating a pipe that passes no handles cannot fail. */
	(void)uv_pipe_init(loop, &child->in, 0);
	(void)uv_pipe_init(loop, &child->out, 0);
	(void)uv_pipe_init(loop, &child->said, 0);
	(void)uv_timer_init(loop, &child->clock);
	child->in.data = child->out.data = child->said.data = child->process.data = child->clock.data =
		child;
	result = os_spawn(loop, &child->process, &how);
	/* Under load Windows returns an error for which libuv has no name. */
	*ret_passing = result == UV_UNKNOWN;
	if (result) {
		/* The handles still have to be closed on the loop. There is no end event, since the child
		 * never began. */
		child->events.end = NULL;
		close_handles(child);
		return error_set(err, JW_ERR_IO, "%s cannot be started: %s", setup->command[0],
						 uv_strerror(result));
	}
	if (setup->low_priority)
		(void)uv_os_setpriority(child->process.pid, UV_PRIORITY_LOW);
	(void)uv_read_start((uv_stream_t *)&child->out, on_room, on_answer_line);
	(void)uv_read_start((uv_stream_t *)&child->said, on_room, on_words);
	*ret_child = child;
	return 0;
}

int child_check_command(struct jw_error *err, const char *const *command)
{
	char *marker = os_env(WORKER_MARKER);
	const bool inside = marker && *marker;

	mem_free(marker);
	if (inside)
		return error_set(err, JW_ERR_USAGE, "a worker starts no workers: unset %s", WORKER_MARKER);
	if (!command || !command[0])
		return error_set(err, JW_ERR_USAGE, "no worker is named");
	return 0;
}

/* The further variables of a worker that compiles; the driver reads all of them once, in cuInit.
 * FORCE_* would compile warm modules, DISABLE_* would refuse to compile. */
static const struct child_variable compiling[] = {
	{"CUDA_CACHE_DISABLE", "0"}, {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDA_FORCE_PTX_JIT", NULL},
	{"CUDA_FORCE_JIT", NULL},    {"CUDA_DISABLE_PTX_JIT", NULL},   {"CUDA_DISABLE_JIT", NULL},
};

enum { COUNT_COMPILING = sizeof compiling / sizeof *compiling };

/* Returns a worker's environment: of ours, only listed variables (os/child_variables.h). Without a
 * private cache, the cache's variables stay as programs have them. */
static char **worker_environment(struct jw_error *err, const struct child_setup *setup)
{
	struct child_variable variables[COUNT_COMPILING + 5] = {{WORKER_MARKER, "1"},
															{WORKER_TASK, setup->task}};
	size_t count = 2;
	char limit[TEXT_SHORT];

	if (setup->cache_dir) {
		(void)snprintf(limit, sizeof limit, "%llu", (unsigned long long)setup->cache_limit_bytes);
		memcpy(variables + count, compiling, sizeof compiling);
		count += COUNT_COMPILING;
		variables[count++] = (struct child_variable){"CUDA_CACHE_PATH", setup->cache_dir};
		variables[count++] = (struct child_variable){"CUDA_CACHE_MAXSIZE", limit};
		variables[count++] =
			(struct child_variable){WORKER_BACKGROUND, setup->low_priority ? "1" : NULL};
	}
	return child_variables_passed(err, variables, count);
}

int child_start(struct jw_error *err, uv_loop_t *loop, const struct child_setup *setup,
				const struct child_events *events, struct child **ret_child)
{
	char **environment = worker_environment(err, setup);
	bool passing = true;
	int result = -1;

	/* libuv writes to workers that may be gone. */
	os_ignore_broken_pipes();
	for (int tries = 0; environment && result && passing && tries < MAX_TRIES; tries++) {
		if (tries)
			uv_sleep((unsigned)FIRST_PAUSE_MS << tries);
		result = start_once(err, loop, setup, events, environment, &passing, ret_child);
	}
	jw_result_free(environment);
	return result;
}

struct pending_write {
	uv_write_t request;
	struct child *child;
	struct buf line;
};

static void on_written(uv_write_t *request, int status)
{
	struct pending_write *pending = request->data;

	/* A dead worker reports its end by itself. A worker that gets no job would be waited for. */
	if (status && status != UV_EPIPE && status != UV_ECANCELED)
		child_distrust(pending->child, uv_strerror(status));
	buf_free(&pending->line);
	mem_free(pending);
}

int child_send_line(struct jw_error *err, struct child *child, struct buf *line)
{
	struct pending_write *pending = mem_alloc(sizeof *pending);
	uv_buf_t bytes;
	int result;

	pending->line = *line;
	*line = (struct buf){0};
	pending->request.data = pending;
	pending->child = child;
	bytes = uv_buf_init((char *)pending->line.data, (unsigned)pending->line.size);
	result = uv_write(&pending->request, (uv_stream_t *)&child->in, &bytes, 1, on_written);
	if (result == UV_EPIPE) {
		/* Windows reports the failure at once; elsewhere on_written does. */
		on_written(&pending->request, result);
		return 0;
	}
	if (!result)
		return 0;
	buf_free(&pending->line);
	mem_free(pending);
	return error_set(err, JW_ERR_IO, "a worker cannot be reached: %s", uv_strerror(result));
}

int child_send(struct jw_error *err, struct child *child, const struct protocol_job *job)
{
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);

	if (!protocol_put_job(err, &line, job))
		return child_send_line(err, child, &line);
	buf_free(&line);
	return -1;
}

int child_pid(const struct child *child)
{
	return child->process.pid;
}

void child_pause(struct child *child, bool paused)
{
	if (!child->exited)
		os_pause_process(child->process.pid, paused);
}

void child_finish(struct child *child)
{
	if (!uv_is_closing((uv_handle_t *)&child->in))
		uv_close((uv_handle_t *)&child->in, on_closed);
}

void child_kill(struct child *child)
{
	child->how.killed = true;
	end_process(child);
}

static const char *signal_name(int number)
{
	switch (number) {
	case SIGSEGV: return "segmentation fault";
	case SIGABRT: return "abort";
	case SIGKILL: return "killed; out of memory?";
	case SIGILL: return "illegal instruction";
	case SIGFPE: return "arithmetic error";
#ifdef SIGXFSZ
	case SIGXFSZ: return "a file grew too large";
#endif
	default: return "";
	}
}

const char *child_signal_text(char *text, size_t size, int number)
{
	const char *name = signal_name(number);

	if (*name)
		(void)text_format(text, size, "ended by signal %d (%s)", number, name);
	else
		(void)text_format(text, size, "ended by signal %d", number);
	return text;
}

/* Windows' exit statuses of processes that ended by an exception, like signals elsewhere. Source:
 * ntstatus.h. Other statuses are small. */
static const char *status_name(uint32_t status)
{
	switch (status) {
	case 0xc0000005u: return "access violation";
	case 0xc00000fdu: return "stack overflow";
	case 0xc000001du: return "illegal instruction";
	case 0xc0000094u: return "arithmetic error";
	case 0xc0000017u: return "out of memory";
	case 0xc0000409u: return "abort";
	default: return "";
	}
}

const char *child_end_text(char *text, size_t size, const struct child_end *how)
{
	uint32_t status = (uint32_t)how->exit_status;

	if (how->protocol[0])
		(void)text_format(text, size, "its answer cannot be read: %s", how->protocol);
	else if (how->stuck)
		(void)text_format(text, size, "cannot be ended: the system holds it");
	else if (how->signal)
		(void)child_signal_text(text, size, how->signal);
	else if (status >= 0xc0000000u && *status_name(status))
		(void)text_format(text, size, "ended with status 0x%08x (%s)", (unsigned)status,
						  status_name(status));
	else
		(void)text_format(text, size, "ended with status %d", how->exit_status);
	return text;
}
