#include "machine/driver_query.h"

#include <uv.h>

#include "base/cancel.h"
#include "worker/child.h"

enum { TICK_MS = 100 };

struct question {
	const struct driver_query *ask;
	struct jw_error *err;
	struct protocol_hello *hello;
	struct protocol_answer *answer;
	struct child *child; /* NULL after it has ended */
	uv_timer_t timer;
	uint64_t end_ms;
	bool greeted, answered, failed, hung;
};

static void on_query_hello(void *context, struct child *child, const struct protocol_hello *hello)
{
	struct question *question = context;

	*question->hello = *hello;
	question->greeted = true;
	if (question->ask->job && !hello->result &&
		child_send(question->err, child, question->ask->job))
		question->failed = true;
	if (!question->ask->job || hello->result || question->failed)
		child_finish(child);
}

static void on_query_answer(void *context, struct child *child,
							const struct protocol_answer *answer)
{
	struct question *question = context;
	const struct driver_query *ask = question->ask;
	const struct protocol_job *next = ask->next ? ask->next(ask->context, answer) : NULL;

	if (question->answer && !question->answered)
		*question->answer = *answer;
	question->answered = true;
	if (!next || child_send(NULL, child, next))
		child_finish(child);
}

static void on_query_end(void *context, struct child *child, const struct child_end *how)
{
	struct question *question = context;
	bool wanted_answer = question->ask->job && question->greeted && !question->hello->result;
	char text[256];

	(void)child;
	question->child = NULL;
	uv_close((uv_handle_t *)&question->timer, NULL);
	if (question->failed || (question->greeted && (!wanted_answer || question->answered)))
		return;
	question->failed = true;
	if (cancel_asked(question->ask->cancel))
		error_set(question->err, JW_ERR_INTERRUPTED, "interrupted");
	else
		error_set(question->err, JW_ERR_DRIVER, "the process that loads %s %s%s%s",
				  question->ask->task ? "the compiler" : "the driver",
				  question->hung ? "did not end" : child_end_text(text, sizeof text, how),
				  how->said[0] ? ", saying: " : "", how->said);
}

static void on_timer(uv_timer_t *timer)
{
	struct question *question = timer->data;

	question->hung = uv_now(timer->loop) >= question->end_ms;
	if (question->child && (question->hung || cancel_asked(question->ask->cancel)))
		child_kill(question->child);
}

int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer)
{
	struct question question = {.ask = ask, .err = err, .hello = ret_hello, .answer = ret_answer};
	struct child_setup setup = {.command = ask->worker,
								.cache_dir = ask->cache_dir,
								.task = ask->task,
								.cache_limit_bytes = UINT64_C(4294967296)};
	struct child_events events = {.context = &question,
								  .hello = on_query_hello,
								  .answer = on_query_answer,
								  .end = on_query_end};
	uv_loop_t loop;

	if (uv_loop_init(&loop))
		return error_set(err, JW_ERR_IO, "no event loop can be made");
	(void)uv_timer_init(&loop, &question.timer);
	question.timer.data = &question;
	question.end_ms = uv_now(&loop) + (uint64_t)ask->limit_s * 1000;
	(void)uv_timer_start(&question.timer, on_timer, TICK_MS, TICK_MS);
	if (child_start(err, &loop, &setup, &events, &question.child)) {
		question.failed = true;
		uv_close((uv_handle_t *)&question.timer, NULL);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	return question.failed ? -1 : 0;
}
