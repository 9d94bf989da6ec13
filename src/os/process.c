#include "os/process.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/child_variables.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/private.h"
#include "os/uv.h"

enum {
	POLL_MS = 50,
	MAX_DEPTH = 8,
	POLLS_PER_SIZE = 5 /* the size is summed at every fifth poll */
};

/* Root's programs get the variables of one list, and the system's own PATH, since a script's
 * interpreter may depend on it ("#!/usr/bin/env bash"). They are no arguments of another program
 * (“env -i”), because every account can read the arguments of all processes, and an address may
 * hold a password. Sets *ret_variables to NULL if the program gets this process's variables. */
static int start_safely(struct jw_error *err, const char *program, char ***ret_variables)
{
	const struct child_variable path = {"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"};

	*ret_variables = NULL;
	if (os_guard(err, program))
		return -1;
	if (os_separator == '/' && os_is_machine_root())
		*ret_variables = child_variables_passed(err, &path, 1);
	return 0;
}

/* Returns the folder in which root runs a program: NULL, the current one, unless another account
 * can put files there. The program could take a file for something else: for an address
 * (“https:/host”), for its settings. */
static const char *safe_folder(void)
{
	return os_guard(NULL, ".") ? "/" : NULL;
}

int os_run_found_program(struct jw_error *err, const char *const *arguments, const char *output,
						 struct os_ended *ret_ended)
{
	char **variables;
	const int result = start_safely(err, *arguments, &variables)
						   ? -1
						   : os_run(err, arguments, variables, safe_folder(), output, ret_ended);

	jw_result_free(variables);
	return result;
}

/* ---- a helper that answers */

struct os_answering {
	struct os_helper helper;
	uint64_t begun_ns; /* the wait for this answer */
	unsigned looks;
	uint64_t most_bytes; /* that the helper's files had meanwhile */
	uv_loop_t loop;
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t timer;
	uv_write_t write;
	char *question; /* the line that is being written */
	char room[64 << 10];
	struct buf line; /* the beginning of the next line */
	uint64_t answered_bytes;
	int (*take)(struct jw_error *err, void *context, char *line);
	void *context;
	struct jw_error why;
	struct os_ended how;
	bool writing, taken, ended, closed;
	bool failed; /* `why` says why */
};

/* Returns the size of all files below a folder; a folder that changes in between is counted as it
 * is seen. */
static uint64_t bytes_below(const char *folder, int depth)
{
	struct os_names names;
	uint64_t size = 0;

	if (depth > MAX_DEPTH || os_list(NULL, folder, &names))
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		char *path = os_join(folder, names.items[i]);
		struct os_stat stat;

		if (names.kinds[i] == OS_DIRECTORY)
			size += bytes_below(path, depth + 1);
		else if (names.kinds[i] == OS_REGULAR && !os_stat(NULL, path, &stat))
			size += stat.size_bytes;
		mem_free(path);
	}
	os_names_free(&names);
	return size;
}

/* Fails if the wait for an answer, or the files of the helper, exceed a limit. */
static int watch_answer(struct jw_error *err, struct os_answering *answering)
{
	const struct os_helper *helper = &answering->helper;
	const struct os_patience *patience = helper->patience;
	const uint64_t waited_ns = os_monotonic_ns() - answering->begun_ns;
	uint64_t size;

	if (cancel_check(err, helper->cancel))
		return -1;
	if (helper->most_ms && waited_ns / 1000000 > helper->most_ms)
		return error_set(err, JW_ERR_LIMIT, "%s: no answer within %u ms", helper->name,
						 helper->most_ms);
	if (!helper->folder || answering->looks++ % POLLS_PER_SIZE)
		return 0;
	size = bytes_below(helper->folder, 0);
	if (size > helper->most_bytes)
		return error_set(err, JW_ERR_LIMIT, "%s downloaded more than %u GiB", helper->name,
						 (unsigned)(helper->most_bytes >> 30));
	if (size > answering->most_bytes)
		answering->most_bytes = size;
	if (waited_ns / UINT64_C(1000000000) > OS_MAX_HOURS * 3600)
		return error_set(err, JW_ERR_LIMIT, "%s took longer than %d hours", helper->name,
						 OS_MAX_HOURS);
	if (patience && (patience->waited_ns + waited_ns) / UINT64_C(1000000000) >
						patience->grace_s + (patience->bytes + answering->most_bytes) / OS_SLOWEST)
		return error_set(err, JW_ERR_LIMIT,
						 "%s: the connection carried less than %d KiB a second for more than %u "
						 "minutes: try again later, or name another server",
						 helper->name, OS_SLOWEST >> 10, patience->grace_s / 60);
	if (helper->on_size)
		helper->on_size(helper->context, size);
	return 0;
}

static void fail_answer(struct os_answering *answering)
{
	answering->failed = true;
	(void)uv_process_kill(&answering->process, 9);
}

static void on_answering_exit(uv_process_t *process, int64_t status, int signal)
{
	struct os_answering *answering = process->data;

	answering->how = (struct os_ended){.status = (int)status, .signal = signal};
	answering->ended = true;
}

static void on_answering_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct os_answering *answering = handle->data;

	(void)suggested;
	*buf = uv_buf_init(answering->room, sizeof answering->room);
}

/* Passes on the whole lines of a piece. Lines after the last one of an answer are dropped. */
static int take_lines(struct jw_error *err, struct os_answering *answering, const char *at,
					  size_t size)
{
	const struct os_helper *helper = &answering->helper;

	answering->answered_bytes += size;
	if (answering->answered_bytes > OS_MAX_ANSWER)
		return error_set(err, JW_ERR_LIMIT, "%s answered with more than %d MiB", helper->name,
						 OS_MAX_ANSWER >> 20);
	for (const char *end = at + size, *stop; at < end && !answering->taken; at = stop + 1) {
		int taken;

		stop = memchr(at, '\n', (size_t)(end - at));
		if (buf_append(NULL, &answering->line, at, (size_t)((stop ? stop : end) - at)))
			return error_set(err, JW_ERR_LIMIT, "%s answered with a line of more than %d bytes",
							 helper->name, OS_MAX_LINE);
		if (!stop)
			return 0;
		char *line = mem_string_n(buf_text(&answering->line), answering->line.size);

		buf_clear(&answering->line);
		taken = answering->take(err, answering->context, line);
		mem_free(line);
		if (taken < 0)
			return -1;
		answering->taken = taken > 0;
	}
	return 0;
}

static void on_answering_piece(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
	struct os_answering *answering = stream->data;

	if (got < 0) {
		answering->closed = true;
		(void)uv_read_stop(stream);
	} else if (got > 0 && !answering->failed &&
			   take_lines(&answering->why, answering, buf->base, (size_t)got)) {
		fail_answer(answering);
	}
}

static void on_answering_tick(uv_timer_t *timer)
{
	struct os_answering *answering = timer->data;

	/* Another process may keep its output open. */
	answering->closed = answering->closed || answering->ended;
	if (!answering->failed && watch_answer(&answering->why, answering))
		fail_answer(answering);
}

static void on_question_written(uv_write_t *request, int status)
{
	struct os_answering *answering = request->handle->data;

	(void)status; /* a program that has ended does not read */
	answering->writing = false;
}

int os_answering_start(struct jw_error *err, const char *const *arguments,
					   const struct os_helper *helper, struct os_answering **ret_answering)
{
	struct os_answering *answering = mem_alloc(sizeof *answering);
	struct os_spawn how = {.program = arguments[0],
						   .arguments = arguments,
						   .folder = helper->runs_in ? helper->runs_in : safe_folder(),
						   .ended = on_answering_exit};
	int failed;

	*answering = (struct os_answering){.helper = *helper, .line = BUF_MAX(OS_MAX_LINE)};
	os_ignore_broken_pipes();
	if (start_safely(err, arguments[0], &how.environment) || os_loop_open(err, &answering->loop)) {
		jw_result_free(how.environment);
		mem_free(answering);
		return -1;
	}
	(void)uv_pipe_init(&answering->loop, &answering->in, 0);
	(void)uv_pipe_init(&answering->loop, &answering->out, 0);
	(void)uv_timer_init(&answering->loop, &answering->timer);
	answering->process.data = answering->in.data = answering->out.data = answering->timer.data =
		answering;
	how.streams[0] = (uv_stdio_container_t){.flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
											.data.stream = (uv_stream_t *)&answering->in};
	how.streams[1] = (uv_stdio_container_t){.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
											.data.stream = (uv_stream_t *)&answering->out};
	how.streams[2] = (uv_stdio_container_t){.flags = UV_IGNORE};
	failed = os_spawn(&answering->loop, &answering->process, &how);
	jw_result_free(how.environment);
	if (failed) {
		answering->ended = true;
		os_answering_stop(answering);
		return error_set(err, JW_ERR_IO, "%s: %s", arguments[0], uv_strerror(failed));
	}
	os_limit_memory(uv_process_get_pid(&answering->process), (uint64_t)OS_MAX_MEMORY_GIB << 30);
	(void)uv_timer_start(&answering->timer, on_answering_tick, POLL_MS, POLL_MS);
	(void)uv_read_start((uv_stream_t *)&answering->out, on_answering_room, on_answering_piece);
	*ret_answering = answering;
	return 0;
}

int os_answering_ask(struct jw_error *err, struct os_answering *answering, const char *question,
					 int (*take)(struct jw_error *err, void *context, char *line), void *context,
					 struct os_ended *ret_ended)
{
	struct os_patience *patience = answering->helper.patience;
	uv_buf_t input;

	answering->take = take;
	answering->context = context;
	answering->taken = false;
	answering->answered_bytes = answering->most_bytes = 0;
	answering->begun_ns = os_monotonic_ns();
	mem_free(answering->question);
	answering->question = question ? mem_printf("%s\n", question) : NULL;
	if (question) {
		input = uv_buf_init(answering->question, (unsigned)strlen(answering->question));
		answering->writing = !uv_write(&answering->write, (uv_stream_t *)&answering->in, &input, 1,
									   on_question_written);
	}
	while (!answering->failed && !(answering->ended && answering->closed) &&
		   (!answering->taken || answering->writing))
		(void)uv_run(&answering->loop, UV_RUN_ONCE);
	if (patience) {
		patience->waited_ns += os_monotonic_ns() - answering->begun_ns;
		patience->bytes += answering->most_bytes;
	}
	/* Ctrl-C reaches both processes, and either may notice it first. */
	if (cancel_check(err, answering->helper.cancel))
		return -1;
	if (answering->failed)
		return error_copy(err, &answering->why);
	if (!answering->taken) {
		*ret_ended = answering->how;
		return error_set(err, JW_ERR_IO, "%s ended before it answered", answering->helper.name);
	}
	return 0;
}

static void close_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void os_answering_stop(struct os_answering *answering)
{
	if (!answering)
		return;
	/* From here on nobody is told anything: what receives reports may be gone. */
	(void)uv_timer_stop(&answering->timer);
	if (!answering->ended)
		(void)uv_process_kill(&answering->process, 9);
	while (!answering->ended)
		(void)uv_run(&answering->loop, UV_RUN_ONCE);
	uv_walk(&answering->loop, close_handle, NULL);
	(void)uv_run(&answering->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&answering->loop);
	buf_free(&answering->line);
	mem_free(answering->question);
	mem_free(answering);
}

static int add_line(struct jw_error *err, void *context, char *line)
{
	return buf_printf(err, context, "%s\n", line);
}

int os_ask_found_program(struct jw_error *err, const struct os_question *question, int *ret_status)
{
	const struct os_helper helper = {.name = question->arguments[0],
									 .runs_in = question->folder,
									 .most_ms = question->timeout_ms,
									 .cancel = question->cancel};
	struct os_answering *answering;
	struct os_ended ended = {0};
	struct jw_error why = {0};

	if (os_answering_start(err, question->arguments, &helper, &answering))
		return -1;
	uv_close((uv_handle_t *)&answering->in, NULL);
	(void)os_answering_ask(&why, answering, NULL, add_line, question->answer, &ended);
	/* The program's end ends the answer, whose last line may lack a line feed. */
	if (why.code == JW_ERR_IO &&
		!buf_append(&why, question->answer, buf_text(&answering->line), answering->line.size))
		why.code = JW_OK;
	os_answering_stop(answering);
	*ret_status = ended.signal ? 128 : ended.status;
	return why.code ? error_copy(err, &why) : 0;
}

char *os_program_on_path(const char *name)
{
	char *list = os_env("PATH"), *at = list, *found = NULL, *passed_over = NULL;

	while (at && !found) {
		char *end = strchr(at, os_list_separator), *path;

		if (end)
			*end = '\0';
		path = os_is_whole_path(at) ? mem_printf("%s%c%s%s", at, os_separator, name,
												 os_separator == '\\' ? ".exe" : "")
									: NULL;
		if (path && os_exists(path)) {
			if (!os_guard(NULL, path))
				found = path;
			else if (!passed_over)
				passed_over = path;
		}
		if (path != found && path != passed_over)
			mem_free(path);
		at = end ? end + 1 : NULL;
	}
	mem_free(list);
	if (!found)
		return passed_over;
	mem_free(passed_over);
	return found;
}

int quote_windows(struct jw_error *err, struct buf *line, const char *argument)
{
	size_t backslashes = 0;

	if (line->size && buf_append(err, line, " ", 1))
		return -1;
	if (buf_append(err, line, "\"", 1))
		return -1;
	for (; *argument; argument++) {
		size_t more = *argument == '"' ? backslashes + 1 : 0;

		backslashes = *argument == '\\' ? backslashes + 1 : 0;
		while (more--)
			if (buf_append(err, line, "\\", 1))
				return -1;
		if (buf_append(err, line, argument, 1))
			return -1;
	}
	while (backslashes--)
		if (buf_append(err, line, "\\", 1))
			return -1;
	return buf_append(err, line, "\"", 1);
}

int quote_systemd(struct jw_error *err, struct buf *line, const char *argument)
{
	/* The program's path, the first word, contains no variables to replace. */
	const char *const doubled = line->size ? "%$" : "%";
	/* A line that is not UTF-8 is ignored whole, and a control character may end it. */
	const bool plain = text_is_utf8(argument, strlen(argument));

	if ((line->size && buf_append(err, line, " ", 1)) || buf_append(err, line, "\"", 1))
		return -1;
	for (; *argument; argument++) {
		const unsigned char byte = (unsigned char)*argument;
		int result;

		if (byte < ' ' || byte == 0x7f || (byte > 0x7f && !plain))
			result = buf_printf(err, line, "\\x%02x", byte);
		else if (strchr("\"\\", *argument))
			result = buf_printf(err, line, "\\%c", *argument);
		else
			result = (strchr(doubled, *argument) && buf_append(err, line, argument, 1)) ||
					 buf_append(err, line, argument, 1);
		if (result)
			return -1;
	}
	return buf_append(err, line, "\"", 1);
}
