/* How long the rest of a run takes: the pace of this run so far, and the schedule of what is left.
 *
 * The pace has two parts. How crowded the machine is shows in every module that is done: wall time
 * beside processor time. How wrong the predictions are shows in modules of the same form and size:
 * what a few short ones took says little about a long one. The schedule is that of run_feed.c: the
 * dearest module to the worker that is free first. A long module at the end counts with its whole
 * length, which the share of the work that is done does not tell. */
#pragma once

#include <stddef.h>

#include "cache/key.h"

/* What the modules that are done were predicted to take, and took. */
struct pace_sum {
	double model_ms, cpu_ms;
};
struct pace {
	struct pace_sum load, link;
	double cpu_ms, wall_ms; /* of the latest of them */
};

/* A module is done. */
void pace_take(struct pace *pace, enum cache_key_form form, double model_ms, double cpu_ms,
			   double wall_ms);
/* A module is being compiled for so long already. */
void pace_take_running(struct pace *pace, enum cache_key_form form, double model_ms,
					   double wall_ms);
/* The wall time that a module with this prediction takes; the prediction before anything was done.
 */
double pace_ms(const struct pace *pace, enum cache_key_form form, double model_ms);
/* What is left of it after it has run for so long. */
double pace_left_ms(const struct pace *pace, enum cache_key_form form, double model_ms,
					double run_ms);

/* The time until all is done: `free_ms` says for each worker when it is done with what it has (and
 * is changed), `next_ms` what the next modules take, the dearest first, and `rest_ms` those behind
 * them together. */
double schedule_ms(double *free_ms, size_t workers, const double *next_ms, size_t next_count,
				   double rest_ms);
