/* What is still to be compiled: the cold modules of a plan, dearest first, and those that have to
 * be tried again. */
#ifndef JW_PRIME_QUEUE_H
#define JW_PRIME_QUEUE_H

#include "plan/plan.h"

/* A module that has taken this many workers with it is set aside. */
enum { QUEUE_MOST_TRIES = 2 };

struct queue {
	const struct plan *plan;
	size_t *order; /* indices of the cold modules; the plan has them dearest first */
	size_t count, next;
	size_t *again; /* a stack */
	size_t again_count;
	uint8_t *tries; /* of each module of the plan */
};

#define QUEUE_EMPTY SIZE_MAX

int queue_open(struct jw_error *err, const struct plan *plan, struct queue *ret_queue);
void queue_close(struct queue *queue);
/* The next module, QUEUE_EMPTY where none is left. */
size_t queue_take(struct queue *queue);
/* The one that queue_take would give, without taking it. */
size_t queue_peek(const struct queue *queue);
/* Gives back a module that was taken and never begun. */
void queue_return(struct queue *queue, size_t module);
/* A module whose worker came to grief: true where it will be tried again, false where it is to be
 * set aside. */
bool queue_retry(struct queue *queue, size_t module);

#endif
