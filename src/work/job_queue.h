/* Modules to be compiled: the cold modules of a plan, longest compile first. Modules that ended a
 * worker are tried once more when no other is left. */
#pragma once

#include "plan/plan.h"

/* The number of workers that a module may end before it is skipped. */
enum { QUEUE_MAX_TRIES = 2 };

struct job_queue {
	size_t *order; /* indices of the cold modules whose names no other module has taken, what
					  programs are known to use first, then most expensive first as in the plan */
	size_t count, next;
	size_t *again; /* a stack of modules that were taken and never begun */
	size_t again_count;
	size_t *suspects; /* in the order in which they ended a worker */
	size_t suspect_count, next_suspect;
	uint8_t *tries; /* for each module of the plan */
};

#define QUEUE_EMPTY SIZE_MAX
#define QUEUE_WAIT  (SIZE_MAX - 1) /* there is work left, but none for now */

void job_queue_open(const struct plan *plan, struct job_queue *ret_queue);
void job_queue_close(struct job_queue *queue);
/* Drops all remaining modules. */
void job_queue_clear(struct job_queue *queue);
/* Returns the next module that is not a suspect; QUEUE_EMPTY if none is left. */
size_t job_queue_take(struct job_queue *queue);
/* Returns the module that job_queue_take would return, without taking it. */
size_t job_queue_peek(const struct job_queue *queue);
/* Takes this module if it is in the queue and no suspect; those before it keep their order. */
bool job_queue_take_this(struct job_queue *queue, size_t module);
/* Returns a suspect, to be tried once more when nothing else is being compiled. */
size_t job_queue_take_suspect(struct job_queue *queue);
bool job_queue_has_suspects(const struct job_queue *queue);
bool job_queue_is_suspect(const struct job_queue *queue, size_t module);
/* Returns a module that was taken and never begun. */
void job_queue_return(struct job_queue *queue, size_t module);
/* Records that a module's worker was lost. Returns whether the module will be tried again, with the
 * suspects. */
bool job_queue_retry(struct job_queue *queue, size_t module);
