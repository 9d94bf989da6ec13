#include "driver/driver_session.h"

#include <limits.h>
#include <string.h>

#include <uv.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/child.h"
#include "os/uv.h"

int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer)
{
	struct protocol_answer *answer;
	struct driver_session *session;
	int result = 0;

	if (driver_session_open(err, ask, &session, ret_hello))
		return -1;
	answer = mem_alloc(sizeof *answer);
	if (ask->job && !ret_hello->result) {
		const struct protocol_job *next = NULL;

		result = driver_session_ask(err, session, ask->job, answer);
		if (!result && ret_answer)
			*ret_answer = *answer;
		if (!result && ask->next)
			next = ask->next(ask->context, answer);
		while (next && !driver_session_ask(NULL, session, next, answer))
			next = ask->next(ask->context, answer);
	}
	mem_free(answer);
	driver_session_close(session);
	return result;
}

enum { TICK_MS = 100 };

struct driver_session {
	struct driver_query ask;
	struct protocol_hello *hello;   /* where to store the hello that is waited for */
	struct protocol_answer *answer; /* where to store the answer, while `asked` */
	bool asked;
	struct child *child; /* NULL after it has ended */
	uv_loop_t loop;
	uv_timer_t timer;
	uint64_t end_ms;
	bool hung;
	struct jw_error why; /* the reason of its end */
};

static void on_session_hello(void *context, struct child *child, const struct protocol_hello *hello)
{
	struct driver_session *session = context;

	(void)child;
	*session->hello = *hello;
	session->hello = NULL;
}

static void on_session_answer(void *context, struct child *child,
							  const struct protocol_answer *answer)
{
	struct driver_session *session = context;

	(void)child;
	if (session->asked)
		*session->answer = *answer;
	session->asked = false;
}

static void on_session_end(void *context, struct child *child, const struct child_end *how)
{
	struct driver_session *session = context;
	char text[256];

	(void)child;
	session->child = NULL;
	uv_close((uv_handle_t *)&session->timer, NULL);
	if (cancel_asked(session->ask.cancel))
		error_set(&session->why, JW_ERR_INTERRUPTED, "interrupted");
	else
		error_set(&session->why, JW_ERR_DRIVER, "the process that loads %s %s%s%s",
				  session->ask.task ? "the compiler" : "the driver",
				  session->hung ? "did not end" : child_end_text(text, sizeof text, how),
				  how->said[0] ? ", saying: " : "", how->said);
}

static void on_session_timer(uv_timer_t *timer)
{
	struct driver_session *session = timer->data;

	session->hung = uv_now(timer->loop) >= session->end_ms;
	if (session->child && (session->hung || cancel_asked(session->ask.cancel)))
		child_kill(session->child);
}

void driver_session_renew(struct driver_session *session)
{
	uv_update_time(&session->loop);
	session->end_ms = uv_now(&session->loop) + (uint64_t)session->ask.limit_s * 1000;
}

int driver_session_open(struct jw_error *err, const struct driver_query *ask,
						struct driver_session **ret_session, struct protocol_hello *ret_hello)
{
	struct driver_session *session = mem_alloc(sizeof *session);
	const struct child_setup setup = {.command = ask->worker,
									  .cache_dir = ask->cache_dir,
									  .task = ask->task,
									  .cache_limit_bytes = UINT64_C(4294967296)};
	const struct child_events events = {.context = session,
										.hello = on_session_hello,
										.answer = on_session_answer,
										.end = on_session_end};
	int result;

	session->ask = *ask;
	session->hello = ret_hello;
	if (os_loop_open(err, &session->loop)) {
		mem_free(session);
		return -1;
	}
	(void)uv_timer_init(&session->loop, &session->timer);
	session->timer.data = session;
	driver_session_renew(session);
	(void)uv_timer_start(&session->timer, on_session_timer, TICK_MS, TICK_MS);
	result = child_start(err, &session->loop, &setup, &events, &session->child);
	if (result)
		uv_close((uv_handle_t *)&session->timer, NULL);
	while (session->child && session->hello)
		(void)uv_run(&session->loop, UV_RUN_ONCE);
	if (!result && session->hello)
		result = error_copy(err, &session->why);
	if (result) {
		driver_session_close(session);
		return -1;
	}
	*ret_session = session;
	return 0;
}

int driver_session_ask(struct jw_error *err, struct driver_session *session,
					   const struct protocol_job *job, struct protocol_answer *ret_answer)
{
	session->answer = ret_answer;
	session->asked = !session->child || !child_send(err, session->child, job);
	if (!session->asked)
		return -1;
	while (session->child && session->asked)
		(void)uv_run(&session->loop, UV_RUN_ONCE);
	if (session->asked) {
		session->asked = false;
		return error_copy(err, &session->why);
	}
	/* After such an answer the worker ends itself. */
	while (session->child && (ret_answer->sticky || ret_answer->no_context))
		(void)uv_run(&session->loop, UV_RUN_ONCE);
	return 0;
}

void driver_session_close(struct driver_session *session)
{
	if (!session)
		return;
	if (session->child)
		child_finish(session->child);
	(void)uv_run(&session->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&session->loop);
	mem_free(session);
}

/* CUcomputemode; only drivers before 2013 have the first one. Source: cuda.h */
enum { MODE_EXCLUSIVE_THREAD = 1, MODE_PROHIBITED = 2, MODE_EXCLUSIVE = 3 };

static bool is_exclusive(const struct protocol_device *device)
{
	return device->compute_mode == MODE_EXCLUSIVE || device->compute_mode == MODE_EXCLUSIVE_THREAD;
}

/* Returns whether another device of this architecture accepts any number of processes. */
static bool has_better(const struct device_pool *pool, size_t device)
{
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->devices[i].compute_mode &&
			jw_target_equal(pool->devices[i].target, pool->devices[device].target))
			return true;
	return false;
}

void device_pool_fill(struct device_pool *pool, const struct protocol_hello *hello)
{
	*pool = (struct device_pool){.count = hello->device_count};
	memcpy(pool->devices, hello->devices, sizeof pool->devices);
	for (size_t i = 0; i < pool->count; i++) {
		pool->barred[i] = pool->devices[i].compute_mode == MODE_PROHIBITED;
		if (pool->barred[i])
			TEXT_COPY(pool->why,
					  "its compute mode is “prohibited” (“nvidia-smi -c 0” changes that)");
		if (is_exclusive(&pool->devices[i]) && has_better(pool, i))
			pool->barred[i] = true;
	}
}

const char *device_pool_mode_text(int compute_mode)
{
	switch (compute_mode) {
	case MODE_PROHIBITED:
		return "; its compute mode is “prohibited” (“nvidia-smi -c 0” changes that)";
	case MODE_EXCLUSIVE:
	case MODE_EXCLUSIVE_THREAD: return "; it is in exclusive mode, and another process has it";
	default: return "";
	}
}

static unsigned most_for(const struct device_pool *pool, struct jw_target target)
{
	unsigned exclusive = 0;

	for (size_t i = 0; i < pool->count; i++) {
		if (pool->barred[i] || !jw_target_equal(pool->devices[i].target, target))
			continue;
		if (!is_exclusive(&pool->devices[i]))
			return UINT_MAX;
		exclusive++;
	}
	return exclusive ? exclusive : UINT_MAX;
}

unsigned device_pool_max_workers(const struct device_pool *pool, const struct plan_target *targets,
								 size_t count)
{
	unsigned most = UINT_MAX;

	for (size_t i = 0; i < count; i++) {
		unsigned some = most_for(pool, targets[i].device);

		/* With several architectures each worker uses all of them in turn, and two workers could
		 * meet on one. */
		if (some != UINT_MAX && count > 1)
			some = 1;
		most = some < most ? some : most;
	}
	return most;
}

bool device_pool_has(const struct device_pool *pool, struct jw_target target)
{
	for (size_t i = 0; i < pool->count; i++)
		if (jw_target_equal(pool->devices[i].target, target))
			return true;
	return false;
}

size_t device_pool_choose(const struct device_pool *pool, struct jw_target target, size_t turn)
{
	size_t fitting = 0;

	for (size_t i = 0; i < pool->count; i++)
		fitting += !pool->barred[i] && jw_target_equal(pool->devices[i].target, target);
	if (!fitting)
		return DEVICE_NONE;
	turn %= fitting;
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->barred[i] && jw_target_equal(pool->devices[i].target, target) && !turn--)
			return i;
	return DEVICE_NONE;
}

bool device_pool_bar(struct jw_error *err, struct device_pool *pool, size_t device, const char *why)
{
	pool->barred[device] = true;
	TEXT_COPY(pool->why, why);
	for (size_t i = 0; i < pool->count; i++)
		if (!pool->barred[i])
			return true;
	error_set(err, JW_ERR_DRIVER,
			  "GPU %d (%s) cannot be used: %s; end the programs that use this GPU, then run the "
			  "command again",
			  pool->devices[device].ordinal, pool->devices[device].name, why);
	return false;
}
