/* One question to the driver: starts a worker, waits for its answer and its end. */
#pragma once

#include "worker/protocol.h"

struct driver_query {
	const char *const *worker;      /* the command */
	const char *cache_dir;          /* the private cache directory that its driver uses; NULL: the
									   one that programs use, by the environment */
	const struct protocol_job *job; /* NULL: only asks for the driver and its devices */
	/* The next job, after each answer; NULL: no more. May be NULL itself. Failures of these jobs do
	 * not change the answer. */
	const struct protocol_job *(*next)(void *context, const struct protocol_answer *answer);
	void *context;                  /* of `next` */
	const char *task;               /* names another compiler (worker/task.h); NULL: the driver's */
	unsigned limit_s;               /* time after which it counts as hung */
	const struct jw_cancel *cancel; /* cancels it (JW_ERR_INTERRUPTED); NULL: never */
};

/* -1: no worker could be started, it died, it hung, or its answer is malformed. A failure of the
 * driver is in the hello or the answer. `ret_answer` may be NULL if there is no job. */
int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer);
