/* The remaining time of a run: its pace so far, and the schedule of the rest.
 *
 * The pace has two parts. The load of the machine shows in every finished module, as wall time
 * relative to processor time. The error of the predictions shows in modules of the same form and
 * size: a few short ones say little about a long one. The schedule is that of run_feed.c: the most
 * expensive module goes to the worker that is free first. A long module at the end counts with its
 * whole length, which the share of finished work does not show. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cache/key.h"

/* Predicted and real times of the finished modules. */
struct pace_sum {
	double model_ms, cpu_ms;
};
struct pace {
	struct pace_sum load, link;
	double cpu_ms, wall_ms; /* of the latest modules */
};

/* Adds a finished module. */
void pace_take(struct pace *pace, enum cache_key_form form, double model_ms, double cpu_ms,
			   double wall_ms);
/* A module has been compiling for this long. */
void pace_take_running(struct pace *pace, enum cache_key_form form, double model_ms,
					   double wall_ms);
/* The wall time of a module with this prediction; the prediction itself before the first module. */
double pace_ms(const struct pace *pace, enum cache_key_form form, double model_ms);
/* Whether finished modules say as much about this one as its prediction does; 0: whether any says
 * anything. */
bool pace_is_measured(const struct pace *pace, double model_ms);
/* Its remaining time after it has run for so long. */
double pace_left_ms(const struct pace *pace, enum cache_key_form form, double model_ms,
					double run_ms);

/* The time until everything is done: `free_ms` says for each worker when it finishes its jobs (and
 * is changed), `next_ms` the times of the next modules, most expensive first, and `rest_ms` the sum
 * of those behind them. */
double schedule_ms(double *free_ms, size_t workers, const double *next_ms, size_t next_count,
				   double rest_ms);
