#include "plan/estimate.h"
#include <jitwarm/estimate.h>

void plan_estimate(struct plan_estimate *ret_estimate, const struct plan_features *features,
				   uint64_t payload_bytes, double machine_factor)
{
	const double cost_ms =
		8 + 0.0243 * features->statements + 0.163 * features->branches + 0.49 * features->entries;
	/* The text predicts the cubin badly; with -lineinfo the cubin repeats it. Each of the four
	 * frameworks' sums is within 30 %. */
	const double cubin_bytes = 0.7 * (double)payload_bytes + 1000.0 * features->entries + 3000;

	*ret_estimate = (struct plan_estimate){
		.cost_ms = cost_ms * (machine_factor > 0 ? machine_factor : 1),
		.cubin_bytes = (uint64_t)cubin_bytes,
		/* 25 MiB, and 3 to 3.7 KiB a statement (the median; up to 7.4 in the larger modules),
		 * twice: no module of the four frameworks needed more. */
		.memory_bytes = 2 * ((UINT64_C(25) << 20) + UINT64_C(3584) * features->statements),
	};
}

double jw_makespan_seconds(double total, double longest, unsigned workers)
{
	double shared = total / (workers ? workers : 1);

	return shared > longest ? shared : longest;
}
