/* The predicted time of linking is near the measured one, and ranges are as wide as the speed is
 * uncertain. */
#include "check.h"

#include <math.h>

#include "plan/forecast.h"
#include "plan/plan.h"

/* Compares the forecast with the time that the driver on the phantom GPU took to link real
 * libraries (docs/internals/estimates.md). */
TEST(linking_takes_as_long_as_measured)
{
	static const struct {
		uint64_t bytes;
		double ms;
	} measured[] = {{32159160, 195}, {33616624, 207}, {31418976, 175}, {2289520, 15}};
	const struct jw_speed none = {0};

	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
		assert_true(fabs(plan_link_ms(&none, measured[i].bytes) / measured[i].ms - 1) < 0.2);
}

TEST(a_forecast_of_nothing_says_nothing_about_the_speed)
{
	const struct plan plan = {.speed = {.factor = 2, .measured = true}};
	const struct plan_module module = {.cost_ms = 4000, .entry_bytes = 700};
	struct jw_forecast forecast = {0}, both = {0};
	const struct jw_forecast none = {0};

	forecast_add(&forecast, &plan, &module);
	assert_true(forecast.measured);
	forecast_join(&both, &forecast);
	forecast_join(&both, &none);
	assert_true(both.measured);
}

/* Only the speed is uncertain, and it is the same for all workers. */
TEST(the_range_of_prime_is_as_wide_as_that_of_a_start)
{
	const struct plan plan = {.speed = {.factor = 2}};
	const struct plan_module module = {.cost_ms = 4000};
	struct jw_forecast forecast = {0};

	for (int i = 0; i < 8; i++)
		forecast_add(&forecast, &plan, &module);
	forecast_share(&forecast, 2);
	assert_true(fabs(forecast.prime.high / forecast.prime.likely - PLAN_RANGE) < 1e-6);
	assert_true(fabs(forecast.prime.likely / forecast.prime.low - PLAN_RANGE) < 1e-6);
}

/* A start that may do without a module takes “up to” the time with it. */
TEST(what_is_lazy_may_take_no_time)
{
	const struct plan plan = {0};
	const struct plan_module lazy = {.cost_ms = 4000, .on_demand = true}, eager = {.cost_ms = 1000};
	struct jw_forecast forecast = {0};

	forecast_add(&forecast, &plan, &lazy);
	assert_true(forecast.start.low == 0 && jw_may_need_none(&forecast.start));
	forecast_add(&forecast, &plan, &eager);
	assert_true(fabs(forecast.start.low - 1 / PLAN_RANGE) < 1e-6);
	assert_true(fabs(forecast.start.high - 5 * PLAN_RANGE) < 1e-6);
}

RUN_TESTS(NULL, NULL)
