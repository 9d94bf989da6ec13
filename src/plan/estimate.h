/* Estimates of a compile: time, memory, and size of the result.
 *
 * Source: docs/estimates.md: least squares over the modules of TensorFlow 2.3.1 and 2.10, XGBoost
 * 1.7.6 and CTranslate2 4.6.2, compiled with ptxas 13.0. A library's sum is within 17 %, and within
 * 18 % if the library is held out of the fit; a single module is typically within 17 %. The speed
 * of this machine is learnt (history/speed_model.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/estimate.h>

/* Counts of a PTX text, from ptx_count. */
struct plan_features {
	uint32_t statements, divisions, entries;
	bool line_info; /* the option string requests it */
};

/* A PTX text has at most 2^30 bytes. */
struct plan_features plan_features_of(const void *text, size_t size);

/* One compile. */
struct plan_estimate {
	double cost_ms;        /* wall time on one core */
	uint64_t cubin_bytes;  /* size of the result, typically within 20 % */
	uint64_t entry_bytes;  /* counted against the cache's limit: the key, which contains the whole
							  PTX, and the cubin */
	uint64_t memory_bytes; /* peak resident memory; already doubled, for admission */
};

/* Typical factor of the measured machines (docs/estimates.md). */
#define PLAN_USUAL_FACTOR 2.0
#define PLAN_SAME_SPREAD  1.25 /* of a program that was compiled here before */
#define PLAN_START_MS     1500 /* for a driver to start in a worker */
double plan_spread(const struct jw_speed *speed);

/* The combined throughput of `workers`, relative to one alone, on so many hardware threads of so
 * many cores: the first thread of a core counts as one, a second as SECOND_THREAD. */
double plan_capacity(unsigned workers, unsigned threads, unsigned cores);

/* Time to link inputs with so much machine code, which every start repeats. */
double plan_link_ms(const struct jw_speed *speed, uint64_t cubin_bytes);

/* `speed`: of this machine; NULL: the model alone. */
void plan_estimate(struct plan_estimate *ret_estimate, const struct plan_features *features,
				   uint64_t payload_bytes, const struct jw_speed *speed);

/* The time left of compiling: its pace so far, and the schedule of the rest.
 *
 * The pace has two parts. What part of a core the compiles get shows at once, in the processor time
 * of those that run. How far off the predictions are shows in modules of the same size: a few short
 * ones say little about a long one. */
struct pace {
	double model_ms, real_ms; /* of the finished modules: as predicted, and processor time */
	double cpu_ms, wall_ms;   /* what the compiles got lately, and in which time */
};

/* Adds a finished module. */
void pace_take(struct pace *pace, double model_ms, double cpu_ms);
/* Compiles got so much processor time. */
void pace_spend(struct pace *pace, double cpu_ms, double wall_ms);
/* A module has been compiling for this long. */
void pace_take_running(struct pace *pace, double model_ms, double wall_ms);
/* The part of a core that a compile gets; more than 1: it has several threads. */
double pace_share(const struct pace *pace);
/* The wall time of a module with this prediction; the prediction itself before the first module. */
double pace_ms(const struct pace *pace, double model_ms);
/* Its remaining time after it has run for so long. */
double pace_left_ms(const struct pace *pace, double model_ms, double run_ms);
/* What is shown of a new guess: it falls, stands still, or rises by a tenth at least. */
double steady_seconds(double shown, double guess);
/* The time until everything is done: `free_ms` says for each worker when it finishes its jobs, and
 * `next_ms` of `rest_ms` is the longest module that none has begun. */
double schedule_ms(const double *free_ms, size_t workers, double next_ms, double rest_ms);
