/* Modules still to be compiled: the cold modules of a plan, longest compile first. Modules that
 * ended a worker are tried once more when no other is left. */
#pragma once

#include "plan/plan.h"

/* A module that has taken this many workers with it is set aside. */
enum { QUEUE_MOST_TRIES = 2 };

struct job_queue {
	const struct plan *plan;
	size_t *order; /* indices of the cold modules; the plan has them dearest first */
	size_t count, next;
	size_t *again; /* a stack: taken and never begun */
	size_t again_count;
	size_t *suspects; /* in the order of their misfortune */
	size_t suspect_count, next_suspect;
	uint8_t *tries; /* of each module of the plan */
};

#define QUEUE_EMPTY SIZE_MAX
#define QUEUE_WAIT  (SIZE_MAX - 1) /* there is something, for later */

int job_queue_open(struct jw_error *err, const struct plan *plan, struct job_queue *ret_queue);
void job_queue_close(struct job_queue *queue);
/* Forgets all that is left. */
void job_queue_clear(struct job_queue *queue);
/* The next module that is no suspect, QUEUE_EMPTY if no such module is left. */
size_t job_queue_take(struct job_queue *queue);
/* The one that job_queue_take would give, without taking it. */
size_t job_queue_peek(const struct job_queue *queue);
/* The first module that `fits`, QUEUE_WAIT if none of the remaining fits. */
size_t job_queue_take_fitting(struct job_queue *queue,
							  bool (*fits)(const void *context, size_t module),
							  const void *context);
/* The predicted time of all remaining modules, on one core. */
double job_queue_cost_ms(const struct job_queue *queue);
/* A module that has to be tried once more, for a time when nothing else is being compiled. */
size_t job_queue_take_suspect(struct job_queue *queue);
bool job_queue_has_suspects(const struct job_queue *queue);
bool job_queue_is_suspect(const struct job_queue *queue, size_t module);
/* Gives back a module that was taken and never begun. */
void job_queue_return(struct job_queue *queue, size_t module);
/* A module whose worker was lost. True: it will be tried again, with the suspects. False: it is set
 * aside. */
bool job_queue_retry(struct job_queue *queue, size_t module);
