/* Estimates of a compile: time, memory, and size of its result.
 *
 * Source: docs/estimates.md: least squares over the modules of TensorFlow 2.3.1 and 2.10, XGBoost
 * 1.7.6 and CTranslate2 4.6.2, compiled with ptxas 13.0. A library's sum is within 17 %, held out
 * of the fit within 18 %; a single module typically within 17 %. The speed of this machine is
 * learnt (history/speed_model.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"

/* Of a PTX text, as ptx_count counts them. */
struct plan_features {
	uint32_t statements, divisions, entries;
	bool line_info; /* the option string asks for it */
};

/* A PTX text has at most 2^30 bytes. */
struct plan_features plan_features_of(const void *text, size_t size);

/* One compile. */
struct plan_estimate {
	double cost_ms;        /* wall time on one core */
	uint64_t cubin_bytes;  /* size of the result, typically within a fifth */
	uint64_t entry_bytes;  /* counted against the cache's limit: the key, which holds the whole PTX,
							  and the cubin */
	uint64_t memory_bytes; /* peak resident memory; doubled already, to be admitted with */
};

/* How much longer the driver's compiler takes on this machine than the model says, by the form of
 * the key (cache/key.h). 0: not known; a factor that was measured elsewhere is used then. */
struct plan_factors {
	double load, link;
	double spread; /* the factor by which a sum may miss, nine times in ten; 0: the usual one */
};
double plan_spread(const struct plan_factors *factors);
double plan_factor(const struct plan_factors *factors, enum cache_key_form form);

/* The throughput of `workers` together, in units of one alone, on so many hardware threads of so
 * many cores: the first thread of a core counts as one, another as SECOND_THREAD. */
double plan_capacity(unsigned workers, unsigned threads, unsigned cores);

/* Of linking inputs of so much machine code, which every start repeats. */
double plan_link_ms(const struct plan_factors *factors, uint64_t cubin_bytes);

/* `machine_factor`: how much longer than the model; 0: as the model. */
void plan_estimate(struct plan_estimate *ret_estimate, const struct plan_features *features,
				   uint64_t payload_bytes, double machine_factor);
