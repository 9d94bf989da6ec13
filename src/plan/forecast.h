/* The cost of a plan's cold modules: time of a first start, time of priming, room in the cache. */
#pragma once

#include <jitwarm/estimate.h>

#include "plan/plan.h"

/* Adds a cold module. */
void forecast_add(struct jw_forecast *forecast, const struct plan *plan,
				  const struct plan_module *module);
/* Adds the time for linking at each start on one of the plan's targets. */
void forecast_add_link(struct jw_forecast *forecast, const struct plan *plan, size_t target);
/* Adds the modules of another GPU. */
void forecast_join(struct jw_forecast *forecast, const struct jw_forecast *other);
/* The number of workers that `prime` starts for so many modules without other limits. */
unsigned forecast_workers(size_t modules);
/* After the last module: computes the time with so many workers. */
void forecast_share(struct jw_forecast *forecast, unsigned workers);
