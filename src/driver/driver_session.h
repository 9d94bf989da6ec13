/* One question to the driver: starts a worker, waits for its answer and its end. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "driver/protocol.h"
#include "plan/plan.h"

struct driver_query {
	const char *const *worker;      /* the command */
	const char *cache_dir;          /* the private cache directory that its driver uses; NULL: the
									   one that programs use, by the environment */
	const struct protocol_job *job; /* NULL: only asks for the driver and its devices */
	/* The next job, after each answer; NULL: no more. May be NULL itself. Failures of these jobs do
	 * not change the answer. */
	const struct protocol_job *(*next)(void *context, const struct protocol_answer *answer);
	void *context;                  /* of `next` */
	const char *task;               /* names another compiler (driver/task.h); NULL: the driver's */
	unsigned limit_s;               /* time after which it counts as hung */
	const struct jw_cancel *cancel; /* cancels it (JW_ERR_INTERRUPTED); NULL: never */
};

/* -1: no worker could be started, it died, it hung, or its answer is malformed. A failure of the
 * driver is in the hello or the answer. `ret_answer` may be NULL if there is no job. */
int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer);

/* A worker that stays for several questions, each after the answer to the one before. */
struct driver_session;

/* Starts the worker that `ask` describes, and waits for what it says of itself. Its members must
 * stay valid; `job`, `next` and `context` are not used. -1: as driver_query. A failure of the
 * driver is in the hello: then it answers nothing. */
int driver_session_open(struct jw_error *err, const struct driver_query *ask,
						struct driver_session **ret_session, struct protocol_hello *ret_hello);
/* -1: as driver_query; then, or after an answer that ends the worker (`sticky`, `no_context`), it
 * is no longer alive. */
int driver_session_ask(struct jw_error *err, struct driver_session *session,
					   const struct protocol_job *job, struct protocol_answer *ret_answer);
/* Gives it the whole time of `limit_s` again. */
void driver_session_renew(struct driver_session *session);
bool driver_session_alive(const struct driver_session *session);
/* Waits for the end of the worker. NULL is valid. */
void driver_session_close(struct driver_session *session);

/* The GPUs that a run's workers see, and the choice of one for a module. */
struct device_pool {
	struct protocol_device devices[PROTOCOL_MAX_DEVICES];
	bool works[PROTOCOL_MAX_DEVICES];  /* a worker has had a context there */
	bool barred[PROTOCOL_MAX_DEVICES]; /* it gives no context */
	char why[128];                     /* reason for the last one that was barred */
	size_t count;
};

#define DEVICE_NONE SIZE_MAX

/* Fills the pool from the report of the run's first worker. Devices whose compute mode forbids
 * contexts are barred. So are exclusive-process devices, if others of the same architecture serve
 * all workers. */
void device_pool_fill(struct device_pool *pool, const struct protocol_hello *hello);
/* Why a device in this mode gives no context, for people; "" if the mode is not the reason. */
const char *device_pool_mode_text(int compute_mode);
/* How many workers can have a context at the same time for modules of these architectures:
 * UINT_MAX, or few if one of them has only devices in exclusive mode. */
unsigned device_pool_most_workers(const struct device_pool *pool, const struct plan_target *targets,
								  size_t count);
/* Whether there is a device of this architecture, barred or not. */
bool device_pool_has(const struct device_pool *pool, struct jw_target target);
/* An index in pool.devices, DEVICE_NONE if no device is left. Devices of the same architecture
 * share the workers by `turn`. */
size_t device_pool_choose(const struct device_pool *pool, struct jw_target target, size_t turn);
/* False if no device is left; then err says so. */
bool device_pool_bar(struct jw_error *err, struct device_pool *pool, size_t device,
					 const char *why);
