#pragma once

#include <jitwarm/prime.h>

#include "base/error.h"
#include "plan/plan.h"

/* One module that could not be compiled: the reason, and the driver's log ("" if it has none). */
int prime_result_add_failure(struct jw_error *err, struct jw_prime_result *result,
							 const struct plan *plan, const struct plan_module *module,
							 const char *reason, const char *log);
/* Clears the failures before another run. */
void prime_result_forget_failures(struct jw_prime_result *result);
/* What a worker has done since `from_ns` (os_monotonic_ns). Without memory it is left out. */
void prime_result_add_slice(struct jw_prime_result *result, const struct jw_prime_slice *slice);
int prime_result_add_note(struct jw_error *err, struct jw_prime_result *result, const char *format,
						  ...) JW_PRINTF(3, 4);
