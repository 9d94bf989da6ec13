/* The time left of compiling: arithmetic, which looks at no clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A run's pace so far, and the schedule of the rest.
 *
 * The pace has two parts. What part of a core the compiles get shows at once, in the processor time
 * of those that run. How far off the predictions are shows in modules of the same size: a few short
 * ones say little about a long one. */
struct pace {
	/* Of the finished modules: as predicted, and processor time; and sums, each divided by its
	 * prediction, for the time that each module takes besides. */
	double model_ms, real_ms, count, count_count, count_real;
	double cpu_ms, wall_ms; /* what the compiles got lately, and in which time */
};

/* Adds finished modules. */
void pace_take(struct pace *pace, double count, double model_ms, double cpu_ms);
/* Compiles got so much processor time. */
void pace_spend(struct pace *pace, double cpu_ms, double wall_ms);
/* A module has been compiling for this long. */
void pace_take_running(struct pace *pace, double model_ms, double wall_ms);
/* The part of a core that a compile gets; more than 1: it has several threads. */
double pace_share(const struct pace *pace);
/* The wall time of modules with this prediction; the prediction itself before the first module. */
double pace_ms(const struct pace *pace, double count, double model_ms);
/* Their remaining time after they have run for so long. */
double pace_left_ms(const struct pace *pace, double count, double model_ms, double run_ms);
/* What is shown of a new guess: it falls, stands still, or rises by a tenth at least. */
double steady_seconds(double shown, double guess);
/* The time until everything is done: `free_ms` says for each worker when it finishes its jobs, and
 * `next_ms` of `rest_ms` is the longest module that none has begun. */
double schedule_ms(const double *free_ms, size_t workers, double next_ms, double rest_ms);

/* ---- of a process that is watched */

/* What is left by the plan's model, and how that went so far. Start with {0}. */
struct watch_left {
	bool known;                  /* the modules were counted at least once */
	size_t files;                /* that they were counted in */
	double modules;              /* that are left */
	double model_ms, longest_ms; /* predicted for those, and for the longest of them */
	double since_ms;             /* processor time of compiling, since the last one was done */
	struct pace pace;
};

/* Some time went by in which the process had the driver compile, and used so much of processors. */
void watch_left_spend(struct watch_left *left, double wall_ms, double cpu_ms);
/* The modules of `files` files were counted again: `model_ms` is predicted for those left, and
 * `longest_ms` for the longest of them. */
void watch_left_count(struct watch_left *left, size_t files, size_t modules, double model_ms,
					  double longest_ms);
/* Seconds; less than 0: not known. */
double watch_left_seconds(const struct watch_left *left);
