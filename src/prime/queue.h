/* What is still to be compiled: the cold modules of a plan, dearest first, then those that have
 * taken a worker with them, which are tried once more when nothing else is left. */
#ifndef JW_PRIME_QUEUE_H
#define JW_PRIME_QUEUE_H

#include "plan/plan.h"

/* A module that has taken this many workers with it is set aside. */
enum { QUEUE_MOST_TRIES = 2 };

struct queue {
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

int queue_open(struct jw_error *err, const struct plan *plan, struct queue *ret_queue);
void queue_close(struct queue *queue);
/* Forgets all that is left. */
void queue_clear(struct queue *queue);
/* The next module that has done nobody any harm, QUEUE_EMPTY where none is left. */
size_t queue_take(struct queue *queue);
/* The one that queue_take would give, without taking it. */
size_t queue_peek(const struct queue *queue);
/* The first one that `fits`, QUEUE_WAIT where none of those that are left does. */
size_t queue_take_fitting(struct queue *queue, bool (*fits)(const void *context, size_t module),
						  const void *context);
/* What is predicted for all that is left, on one core. */
double queue_cost_ms(const struct queue *queue);
/* A module that has to be tried once more, for a time when nothing else is being compiled. */
size_t queue_take_suspect(struct queue *queue);
bool queue_has_suspects(const struct queue *queue);
bool queue_is_suspect(const struct queue *queue, size_t module);
/* Gives back a module that was taken and never begun. */
void queue_return(struct queue *queue, size_t module);
/* A module whose worker came to grief: true where it will be tried again, with the suspects, false
 * where it is to be set aside. */
bool queue_retry(struct queue *queue, size_t module);

#endif
