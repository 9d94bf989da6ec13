/* The time left of a compile run. These functions only compute; none reads a clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A run's pace so far, and the schedule of the rest. The pace has two parts. The share of a core
 * that the compiles get is measured at once, in the processor time of the modules that are
 * compiling. The factor by which predictions are wrong is measured on modules of the same size,
 * because a few short ones say little about a long one. */
struct pace {
	/* Sums over the finished modules: their predictions and processor times; the other three are
	 * divided by the prediction, to find the extra time of each module. */
	double model_ms, real_ms, count, count_count, count_real;
	/* The compiles' recent processor time, and the wall time in which they used it. */
	double cpu_ms, wall_ms;
};

/* Adds finished modules. */
void pace_take(struct pace *pace, double count, double model_ms, double cpu_ms);
/* Adds processor time that the compiles used in `wall_ms`. */
void pace_spend(struct pace *pace, double cpu_ms, double wall_ms);
/* Adds a module that has been compiling for `wall_ms`. */
void pace_take_running(struct pace *pace, double model_ms, double wall_ms);
/* Returns the wall time of modules with this prediction; before the first module, the prediction
 * itself. */
double pace_ms(const struct pace *pace, double count, double model_ms);
/* Returns the remaining time of such modules after they have run for `run_ms`. */
double pace_left_ms(const struct pace *pace, double count, double model_ms, double run_ms);
/* Returns the time to display for a new guess: the displayed time falls, stays, or rises by at
 * least a tenth. */
double steady_seconds(double shown, double guess);
/* Returns the time until everything is done: `free_ms` has for each worker when it finishes its
 * jobs, and `next_ms` of `rest_ms` is the longest module that no worker has begun. */
double schedule_ms(const double *free_ms, size_t workers, double next_ms, double rest_ms);

/* ---- the time left of a watched process */

/* The work left according to the plan's model, and the pace so far. Start with {0}. */
struct watch_left {
	bool known;     /* the modules were counted at least once */
	size_t files;   /* the number of files in which they were counted */
	double modules; /* the number of modules left */
	/* The predictions for all modules left, and for the longest of them. */
	double model_ms, longest_ms;
	double since_ms; /* the processor time used for compiling since the last module was finished */
	struct pace pace;
};

/* Adds a time in which the process had the driver compile, and the processor time that it used. */
void watch_left_spend(struct watch_left *left, double wall_ms, double cpu_ms);
/* Records a new count over `files` files: `model_ms` is the prediction for all modules left, and
 * `longest_ms` that for the longest of them. */
void watch_left_count(struct watch_left *left, size_t files, size_t modules, double model_ms,
					  double longest_ms);
/* Returns the seconds left; negative if unknown. */
double watch_left_seconds(const struct watch_left *left);
