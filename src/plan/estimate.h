/* Estimates of a compile: time, memory, and size of the result.
 *
 * Source: docs/internals/estimates.md: least squares over the modules of TensorFlow 2.3.1 and 2.10,
 * XGBoost 1.7.6 and CTranslate2 4.6.2, compiled with ptxas 13.0. A library's sum is within 17 %,
 * and within 18 % if the library is held out of the fit; a single module is typically within 17 %.
 * The speed of this machine is learnt (driver/speed_model.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/estimate.h>

/* The counts of a PTX text, from ptx_count. */
struct plan_features {
	uint32_t statements, divisions, entries;
	bool line_info; /* the option string requests a line table */
	bool managed;   /* it has managed variables, so that each start compiles it */
};

/* Counts a PTX text, which has at most 2^30 bytes. */
struct plan_features plan_features_of(const void *text, size_t size);

/* The estimate of one compile. */
struct plan_estimate {
	double cost_ms;       /* wall time on one core */
	uint64_t cubin_bytes; /* size of the result, typically within 20 % */
	uint64_t entry_bytes; /* the bytes that count against the cache's limit: the key, which contains
							 the whole PTX, and the cubin */
	uint64_t memory_bytes; /* peak resident memory, already doubled for admission */
};

/* The typical factor of the measured machines (docs/internals/estimates.md). */
#define PLAN_USUAL_FACTOR 2.0
#define PLAN_START_MS     1500 /* the time for a driver to start in a worker */
/* The factor, to either side, within which a total lies nine times in ten. */
#define PLAN_RANGE 2.0
/* Returns the range of a time. With `lazy`, a start may not need it, so the least time is zero (“up
 * to”). */
struct jw_seconds plan_seconds(double likely, bool lazy);

/* Returns the combined throughput of `workers`, relative to one alone, on so many hardware threads
 * of so many cores: the first thread of a core counts as one, a second as SECOND_THREAD. */
double plan_capacity(unsigned workers, unsigned threads, unsigned cores);

/* Returns the time to link inputs with so much machine code, which every start repeats. */
double plan_link_ms(const struct jw_speed *speed, uint64_t cubin_bytes);

/* Estimates a compile. `speed` is this machine's; NULL to use only the model. */
void plan_estimate(struct plan_estimate *ret_estimate, const struct plan_features *features,
				   uint64_t payload_bytes, const struct jw_speed *speed);
