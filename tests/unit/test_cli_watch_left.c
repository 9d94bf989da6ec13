/* The predicted rest of a watched process is right within a quarter from a third of the way on;
 * without a prediction nothing is printed. The compiles are made up, without a clock. */
#include "check.h"

#include <math.h>

#include "base/pace.h"

enum { MODULES = 60, POLL_MS = 500 };

/* Returns repeatable numbers between 0 and 1. */
static double chance(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (double)(*seed >> 8) / (1 << 24);
}

struct start {
	double model_ms[MODULES], real_ms[MODULES], whole_ms, left_model_ms;
};

/* Makes a first start whose compiler is `factor` times as slow as predicted, each module off by a
 * fifth at most, and every eighth module twenty times the size of the others. */
static struct start made_up(uint32_t seed, double factor)
{
	struct start start = {0};

	for (size_t i = 0; i < MODULES; i++) {
		start.model_ms[i] = (300 + 700 * chance(&seed)) * (i % 8 == 3 ? 20 : 1);
		start.real_ms[i] = start.model_ms[i] * factor * (0.8 + 0.4 * chance(&seed));
		start.whole_ms += start.real_ms[i];
		start.left_model_ms += start.model_ms[i];
	}
	return start;
}

static double longest_from(const struct start *start, size_t at)
{
	double longest_ms = 0;

	for (; at < MODULES; at++)
		longest_ms = start->model_ms[at] > longest_ms ? start->model_ms[at] : longest_ms;
	return longest_ms;
}

/* If little is left, one module decides, so a twentieth of the whole is close enough. */
static void take_ratio(double said_ms, double true_ms, double whole_ms, double *worst)
{
	if (fabs(said_ms - true_ms) > whole_ms / 20 && fabs(said_ms / true_ms - 1) > fabs(*worst - 1))
		*worst = said_ms / true_ms;
}

/* Watches a run as the command does, with `crowd` times as much time on the clock as on processors,
 * and returns the worst ratio of the predicted and the true time, from a third of the way on. */
static double worst_ratio(struct start start, double crowd)
{
	struct watch_left left = {0};
	double now_ms = 0, done_ms = 0, worst = 1;
	const double whole_ms = start.whole_ms * crowd;
	size_t at = 0;

	watch_left_count(&left, 7, MODULES, start.left_model_ms, longest_from(&start, 0));
	for (; now_ms + POLL_MS < whole_ms; now_ms += POLL_MS) {
		const double shown_s = watch_left_seconds(&left);
		size_t more = 0;

		assert_true(shown_s > 0);
		if (now_ms > whole_ms / 3)
			take_ratio(shown_s * 1000, whole_ms - now_ms, whole_ms, &worst);
		watch_left_spend(&left, POLL_MS, POLL_MS / crowd);
		for (; at < MODULES && done_ms + start.real_ms[at] * crowd <= now_ms + POLL_MS; more++) {
			done_ms += start.real_ms[at] * crowd;
			start.left_model_ms -= start.model_ms[at++];
		}
		if (more)
			watch_left_count(&left, 7, MODULES - at, start.left_model_ms, longest_from(&start, at));
	}
	return worst;
}

TEST(the_time_left_is_right_within_a_quarter_from_a_third_on)
{
	static const double factors[] = {0.5, 1, 1.7, 3};

	for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
		for (uint32_t seed = 1; seed <= 20; seed++) {
			const double worst = worst_ratio(made_up(seed, factors[f]), seed % 2 ? 1 : 1.6);

			if (worst < 0.75 || worst > 1.25)
				fail_msg("factor %g, seed %u: said %g of what was true", factors[f], seed, worst);
		}
}

TEST(nothing_is_said_where_nothing_is_known)
{
	struct watch_left left = {0};

	watch_left_spend(&left, 500, 500);
	assert_true(watch_left_seconds(&left) < 0);
	watch_left_count(&left, 3, 0, 0, 0);
	assert_true(watch_left_seconds(&left) < 0);
	/* A library that is loaded later hides former compiles, so no speed is learnt from it. */
	watch_left_count(&left, 3, 8, 8000, 1000);
	watch_left_spend(&left, 100, 100);
	watch_left_count(&left, 4, 4, 4000, 1000);
	assert_true(watch_left_seconds(&left) > 3 && watch_left_seconds(&left) < 5);
	watch_left_count(&left, 4, 0, 0, 0);
	assert_true(watch_left_seconds(&left) < 0);
}

/* The longest of the three takes twice as long as predicted; the two others still follow. */
TEST(a_module_that_takes_longer_takes_nothing_from_those_to_come)
{
	struct watch_left left = {0};

	watch_left_count(&left, 3, 3, 10000, 4000);
	for (int look = 0; look < 16; look++) {
		watch_left_spend(&left, 500, 500);
		assert_true(watch_left_seconds(&left) > 6);
	}
	assert_true(watch_left_seconds(&left) < 8);
}

RUN_TESTS(NULL, NULL)
