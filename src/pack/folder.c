#include "pack/folder.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/child.h"
#include "os/uv.h"
#include "pack/reader.h"
#include "pack/store_packs.h"

enum { TICK_MS = 100, MAX_GPUS = 32, MAX_MESSAGE = 64 << 20 };

static const struct json_field job_fields[] = {
	JSON_OF(JSON_PATH, "folder", struct folder_job, folder, .text = NULL),
	JSON_OF(JSON_PATH, "local", struct folder_job, local, .text = NULL),
	JSON_OF(JSON_PATH, "state", struct folder_job, state, .text = NULL),
	JSON(struct folder_job, stamp, NULL),
	JSON_OF(JSON_LINES, "names", struct folder_job, names,
			.count = offsetof(struct folder_job, name_count), .most = MAX_GPUS),
	JSON(struct folder_job, cuda, NULL),
	JSON(struct folder_job, most_bytes, NULL),
	JSON(struct folder_job, put, NULL),
	JSON(struct folder_job, allow_unsigned, NULL),
	{0},
};
const struct json_table folder_job_table = {.fields = job_fields,
											.size = sizeof(struct folder_job)};

struct exchange {
	const struct folder_request *request;
	struct jw_store_traffic *traffic;
	struct child *child; /* NULL after it has ended */
	uv_loop_t loop;
	uv_timer_t timer;
	uint64_t heard_ms; /* when the last line came */
	bool silent, done;
	struct jw_error why; /* why the folder cannot be used */
};

/* Takes a line of the process: "." while it copies, "took NAME", "refused WHY", "put BYTES",
 * "missing WHY", "failed WHY" and, at its end, "done". The process reads files that strangers
 * wrote, so the texts are shown and not believed. */
static int on_folder_line(struct jw_error *err, void *context, const char *line, size_t size)
{
	struct exchange *exchange = context;
	struct jw_store_traffic *traffic = exchange->traffic;
	char *text = mem_string_n(line, size), *rest = text + strcspn(text, " "),
		 *said = strchr(text, *FOLDER_TRANSLATION);

	exchange->heard_ms = uv_now(&exchange->loop);
	rest += *rest == ' ';
	if (said)
		*said++ = '\0';
	if (said && text_language)
		text_language->learn(rest, said);
	if (text_starts(text, "took "))
		traffic->packs++;
	else if (text_starts(text, "put "))
		traffic->placed_bytes += strtoull(rest, NULL, 10);
	else if (text_starts(text, "refused ") && !traffic->refused++)
		TEXT_COPY(traffic->refused_why, rest);
	else if (text_starts(text, "missing "))
		error_set(&exchange->why, JW_ERR_NOT_FOUND, "%s", rest);
	else if (text_starts(text, "failed "))
		error_set(&exchange->why, JW_ERR_IO, "%s", rest);
	exchange->done = exchange->done || text_starts(text, "done");
	mem_free(text);
	(void)err;
	return 0;
}

static void on_folder_end(void *context, struct child *child, const struct child_end *how)
{
	struct exchange *exchange = context;
	char text[256];

	(void)child;
	exchange->child = NULL;
	uv_close((uv_handle_t *)&exchange->timer, NULL);
	if (exchange->done || exchange->why.code)
		return;
	if (cancel_asked(&exchange->request->cancel))
		error_set(&exchange->why, JW_ERR_INTERRUPTED, "interrupted");
	else if (exchange->silent)
		error_set(&exchange->why, JW_ERR_IO, "%s: no answer within %d seconds",
				  exchange->request->folder->path, FOLDER_SILENCE_MS / 1000);
	else
		error_set(&exchange->why, JW_ERR_IO, "%s: its process %s%s%.*s",
				  exchange->request->folder->path, child_end_text(text, sizeof text, how),
				  *how->said ? ": " : "", (int)strcspn(how->said, "\n"), how->said);
}

static void on_folder_timer(uv_timer_t *timer)
{
	struct exchange *exchange = timer->data;
	const unsigned most_ms =
		exchange->request->silence_ms ? exchange->request->silence_ms : FOLDER_SILENCE_MS;

	exchange->silent = uv_now(timer->loop) - exchange->heard_ms >= most_ms;
	if (exchange->child && (exchange->silent || cancel_asked(&exchange->request->cancel)))
		child_kill(exchange->child);
}

/* Runs the process until it ends, is killed, or is silent for too long. Takes ownership of the
 * message. */
static int run_folder_process(struct jw_error *err, const struct folder_request *request,
							  struct buf *message, struct jw_store_traffic *traffic)
{
	struct exchange exchange = {.request = request, .traffic = traffic};
	const struct child_setup setup = {.command = request->system->worker, .task = FOLDER_TASK};
	const struct child_events events = {
		.context = &exchange, .line = on_folder_line, .end = on_folder_end};
	int result;

	if (os_loop_open(err, &exchange.loop)) {
		buf_free(message);
		return -1;
	}
	(void)uv_timer_init(&exchange.loop, &exchange.timer);
	exchange.timer.data = &exchange;
	exchange.heard_ms = uv_now(&exchange.loop);
	result = child_start(err, &exchange.loop, &setup, &events, &exchange.child);
	if (result) {
		buf_free(message);
		uv_close((uv_handle_t *)&exchange.timer, NULL);
	} else {
		(void)uv_timer_start(&exchange.timer, on_folder_timer, TICK_MS, TICK_MS);
		result = child_send_line(err, exchange.child, message);
		if (result)
			child_kill(exchange.child);
	}
	(void)uv_run(&exchange.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&exchange.loop);
	return result ? -1 : exchange.why.code ? error_copy(err, &exchange.why) : 0;
}

/* Begins a message for the process. */
static void begin_message(struct buf *message, const struct folder_request *request,
						  const char *local, bool put)
{
	const struct jw_system *system = request->system;
	struct jw_target targets[MAX_GPUS];
	char *names[MAX_GPUS], *line;
	struct folder_job job = {
		.names = names,
		.cuda = system->driver.version.cuda,
		.most_bytes =
			system->cache.limit_bytes < PACK_MAX_SIZE ? system->cache.limit_bytes : PACK_MAX_SIZE,
		.put = put,
		.allow_unsigned = request->folder->allow_unsigned,
	};

	TEXT_COPY(job.folder, request->folder->path);
	TEXT_COPY(job.local, local);
	TEXT_COPY(job.state, request->folder->state_dir ? request->folder->state_dir : "");
	TEXT_COPY(job.stamp, system->driver.stamp);
	job.name_count = jw_system_targets(system, targets, MAX_GPUS);
	for (size_t i = 0; i < job.name_count; i++)
		names[i] = store_pack_start(system, targets[i]);
	line = json_object_line(&folder_job_table, &job);
	buf_add(message, "%s\n", line);
	cJSON_free(line);
	for (size_t i = 0; i < job.name_count; i++)
		mem_free(names[i]);
}

int folder_fetch(struct jw_error *err, const struct folder_request *request, const uint64_t *keys,
				 const uint64_t *key_bytes, size_t count, const char *into,
				 struct jw_store_traffic *ret_traffic)
{
	struct buf message = BUF_MAX(MAX_MESSAGE);

	begin_message(&message, request, into, false);
	for (size_t i = 0; i < count; i++)
		buf_add(&message, "%016llx %llu\n", (unsigned long long)keys[i],
				(unsigned long long)key_bytes[i]);
	buf_add(&message, ".\n");
	return run_folder_process(err, request, &message, ret_traffic);
}

int folder_put(struct jw_error *err, const struct folder_request *request, const char *from,
			   struct jw_store_traffic *ret_traffic)
{
	struct buf message = BUF_MAX(MAX_MESSAGE);

	begin_message(&message, request, from, true);
	buf_add(&message, ".\n");
	return run_folder_process(err, request, &message, ret_traffic);
}
