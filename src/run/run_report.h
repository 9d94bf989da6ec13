/* What a run says of itself, what waits for the cache, and the time that is left. */
#pragma once

#include <jitwarm/prime.h>

#include "base/error.h"
#include "plan/plan.h"
#include "worker/collect.h"

/* Clears the failures before another run. */
void prime_result_forget_failures(struct jw_prime_result *result);
int prime_result_add_note(struct jw_error *err, struct jw_prime_result *result, const char *format,
						  ...) JW_PRINTF(3, 4);

/* Compiled modules whose entries wait for the live cache's lock, which another process holds. */
struct insert_backlog {
	char *folder; /* the waiting entries, outside the workers' directories */
	size_t *modules;
	size_t count, capacity;
	uint64_t tried_ns, progress_ns; /* when the lock was last tried; when it was last taken */
	struct jw_error why;            /* the reason of the last refusal */
};

int insert_backlog_open(struct jw_error *err, const char *folder, struct insert_backlog *ret_later);
void insert_backlog_close(struct insert_backlog *later);

/* Adds the entry of `module` (an index in the plan) at `path`. */
int insert_backlog_add(struct jw_error *err, struct insert_backlog *later, const struct plan *plan,
					   size_t module, const char *path, const struct jw_error *why);
/* Inserts waiting entries into the cache until the lock is refused again, which is not a failure.
 * `done` is called for each entry: `why` is NULL, or JW_ERR_FORMAT for a refused entry. -1: the
 * cache cannot be written. */
int insert_backlog_try(struct jw_error *err, struct insert_backlog *later, struct cache_live *live,
					   const struct plan *plan,
					   void (*done)(void *context, size_t module, int64_t grown_bytes,
									const struct jw_error *why),
					   void *context);

/* The remaining time of a run: its pace so far, and the schedule of the rest.
 *
 * The pace has two parts. The load of the machine shows in every finished module, as wall time
 * relative to processor time. The error of the predictions shows in modules of the same size: a few
 * short ones say little about a long one. The schedule is that of job_queue.c: the most expensive
 * module goes to the worker that is free first. A long module at the end counts with its whole
 * length, which the share of finished work does not show. */

struct pace {
	double model_ms, real_ms; /* of the finished modules: as predicted, and processor time */
	double cpu_ms, wall_ms;   /* of the latest ones */
};

/* Adds a finished module. */
void pace_take(struct pace *pace, double model_ms, double cpu_ms, double wall_ms);
/* A module has been compiling for this long. */
void pace_take_running(struct pace *pace, double model_ms, double wall_ms);
/* The wall time of a module with this prediction; the prediction itself before the first module. */
double pace_ms(const struct pace *pace, double model_ms);
/* Whether finished modules say as much about this one as its prediction does; 0: whether any says
 * anything. */
bool pace_is_measured(const struct pace *pace, double model_ms);
/* Its remaining time after it has run for so long. */
double pace_left_ms(const struct pace *pace, double model_ms, double run_ms);

/* What is shown of a new guess: it falls, stands still, or rises by a quarter at least. */
double steady_seconds(double shown, double guess);

/* The time until everything is done: `free_ms` says for each worker when it finishes its jobs (and
 * is changed), `next_ms` the times of the next modules, most expensive first, and `rest_ms` the sum
 * of those behind them. */
double schedule_ms(double *free_ms, size_t workers, const double *next_ms, size_t next_count,
				   double rest_ms);
