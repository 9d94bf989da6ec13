/* Asks the driver one question: starts a worker, waits for its answer and its end. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "driver/protocol.h"
#include "plan/plan.h"

struct driver_query {
	const char *const *worker; /* the command that starts a worker */
	const char *cache_dir; /* the private cache directory of the worker's driver; NULL for the one
							  that programs use, by the environment */
	const struct protocol_job *job; /* NULL to ask only for the driver and its devices */
	/* Returns the next job after each answer, or NULL if there are no more. May itself be NULL.
	 * Failures of these jobs do not change the answer. */
	const struct protocol_job *(*next)(void *context, const struct protocol_answer *answer);
	void *context; /* passed to `next` */
	/* The file that names another compiler (driver/task.h); NULL for the driver's. */
	const char *task;
	unsigned limit_s; /* the time after which the worker counts as hung */
	/* Cancels the call (JW_ERR_INTERRUPTED); NULL if nothing does. */
	const struct jw_cancel *cancel;
};

/* Asks the question. -1 if no worker could be started, or if it died, hung, or sent a malformed
 * answer. A failure of the driver is in the hello or the answer. `ret_answer` may be NULL if there
 * is no job. */
int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer);

/* A worker that answers several questions, each after the answer to the one before. */
struct driver_session;

/* Starts the worker that `ask` describes, and waits for its hello. The members of `ask` must stay
 * valid; `job`, `next` and `context` are not used. -1 as for driver_query. If the hello has a
 * failure of the driver, the session answers nothing. */
int driver_session_open(struct jw_error *err, const struct driver_query *ask,
						struct driver_session **ret_session, struct protocol_hello *ret_hello);
/* Asks a question. -1 as for driver_query. After that, or after an answer that ends the worker
 * (`sticky`, `no_context`), the worker is no longer alive. */
int driver_session_ask(struct jw_error *err, struct driver_session *session,
					   const struct protocol_job *job, struct protocol_answer *ret_answer);
/* Starts the time of `limit_s` again. */
void driver_session_renew(struct driver_session *session);
/* Ends the session and waits for the end of the worker. NULL is valid. */
void driver_session_close(struct driver_session *session);

/* The GPUs that a run's workers see, and the choice of a GPU for a module. */
struct device_pool {
	struct protocol_device devices[PROTOCOL_MAX_DEVICES];
	bool works[PROTOCOL_MAX_DEVICES];  /* a worker has had a context on this GPU */
	bool barred[PROTOCOL_MAX_DEVICES]; /* this GPU gives no context */
	char why[128];                     /* why the last GPU was barred */
	size_t count;
};

#define DEVICE_NONE SIZE_MAX

/* Fills the pool from the report of the run's first worker. Devices whose compute mode forbids
 * contexts are barred. So are exclusive-process devices, if others of the same architecture serve
 * all workers. */
void device_pool_fill(struct device_pool *pool, const struct protocol_hello *hello);
/* Returns why a device in this mode gives no context, for messages; "" if the mode is not the
 * reason. */
const char *device_pool_mode_text(int compute_mode);
/* Returns how many workers can have a context at the same time for modules of these architectures:
 * UINT_MAX, or few if one of them has only devices in exclusive mode. */
unsigned device_pool_max_workers(const struct device_pool *pool, const struct plan_target *targets,
								 size_t count);
/* Returns whether there is a device of this architecture, barred or not. */
bool device_pool_has(const struct device_pool *pool, struct jw_target target);
/* Returns an index in pool.devices; DEVICE_NONE if no device is left. Devices of the same
 * architecture share the workers by `turn`. */
size_t device_pool_choose(const struct device_pool *pool, struct jw_target target, size_t turn);
/* Bars a device. False if no device is left; then err has a message. */
bool device_pool_bar(struct jw_error *err, struct device_pool *pool, size_t device,
					 const char *why);
