/* Sums up what a plan's cold modules cost: time of a first start, time of priming, space in the
 * cache. */
#pragma once

#include "plan/plan.h"

/* Adds a cold module, or one that is restored, which a start compiles, but not `prime`. */
void forecast_add(struct jw_forecast *forecast, const struct plan *plan,
				  const struct plan_module *module);
/* Adds the time for linking at each start on one of the plan's targets. */
void forecast_add_link(struct jw_forecast *forecast, const struct plan *plan, size_t target);
/* Adds the modules of another GPU. */
void forecast_join(struct jw_forecast *forecast, const struct jw_forecast *other);
/* Returns the number of workers that `prime` starts for so many modules without other limits. */
unsigned forecast_workers(size_t modules);
/* Computes, after the last module, the time with so many workers. */
void forecast_share(struct jw_forecast *forecast, unsigned workers);
/* Called after forecast_share if the GPUs are in several machines: these share no first start, so
 * the sum has the longest one. */
void forecast_part(struct jw_forecast *sum, const struct jw_forecast *gpu, bool first);
