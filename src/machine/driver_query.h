/* One question to the driver: a worker that is started, answers and ends. Waits for it. */
#pragma once

#include "worker/protocol.h"

struct driver_query {
	const char *const *worker;      /* the command */
	const char *cache_dir;          /* the private cache directory that its driver uses */
	const struct protocol_job *job; /* NULL: only which driver and devices there are */
	/* What it is asked further, after each answer; NULL: no more. May be NULL itself. Whatever
	 * becomes of these jobs, the question has been answered. */
	const struct protocol_job *(*next)(void *context, const struct protocol_answer *answer);
	void *context;                  /* of `next` */
	const char *task;               /* names another compiler (worker/task.h); NULL: the driver's */
	unsigned limit_s;               /* how long it may take before it counts as hung */
	const struct jw_cancel *cancel; /* ends it (JW_ERR_INTERRUPTED); NULL: never */
};

/* -1: no worker could be started, it died, it hung, or its answer is malformed. A failure of the
 * driver is in the hello or the answer. `ret_answer` may be NULL if there is no job.
 */
int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer);
