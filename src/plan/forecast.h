/* What the cold modules of a plan take: time of a first start, time of priming, room in the cache.
 */
#pragma once

#include <jitwarm/estimate.h>

#include "plan/plan.h"

/* Adds a cold module. */
void forecast_add(struct jw_forecast *forecast, const struct plan *plan,
				  const struct plan_module *module);
/* Adds what linking at each start takes on one of the plan's targets. */
void forecast_add_link(struct jw_forecast *forecast, const struct plan *plan, size_t target);
/* Adds the modules of another GPU. */
void forecast_join(struct jw_forecast *forecast, const struct jw_forecast *other);
/* As many workers as `prime` starts for so many modules where nothing else bounds them. */
unsigned forecast_workers(size_t modules);
/* After the last module: the time that so many workers take. */
void forecast_share(struct jw_forecast *forecast, unsigned workers);
