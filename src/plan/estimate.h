/* What a compile will take: time, memory, and the size of its result.
 *
 * Source: docs/estimates.md: least squares over the modules of TensorFlow 2.3.1 and 2.10, XGBoost
 * 1.7.6 and CTranslate2 4.6.2, compiled with ptxas 13.0. A library's sum is within 16 %, a single
 * module typically within 17 %. One factor per machine is learnt from what is measured.
 */
#ifndef JW_PLAN_ESTIMATE_H
#define JW_PLAN_ESTIMATE_H

#include <stdint.h>

/* Of a PTX text, as ptx_count counts them. */
struct plan_features {
	uint32_t statements, branches, entries;
};

/* One compile. */
struct plan_estimate {
	double cost_ms;        /* wall time on one core */
	uint64_t cubin_bytes;  /* size of the result: a guess, off by up to three times */
	uint64_t memory_bytes; /* peak resident memory; doubled already, to be admitted with */
};

/* `machine_factor`: how much slower than the model this machine is; 1.0 where it is unknown. */
void plan_estimate(struct plan_estimate *ret_estimate, const struct plan_features *features,
				   uint64_t payload_bytes, double machine_factor);

#endif
