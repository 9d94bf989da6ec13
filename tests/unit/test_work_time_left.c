/* The predicted time left follows the finished modules, falls or stands still, and is near the
 * truth for real libraries. */
#include "costs.h"

#include <math.h>

#include "base/pace.h"
#include "work/run.h"
#include "work/supervisor.h"

static void about(double is, double wanted)
{
	assert_true(is > wanted * 0.999 - 1e-9 && is < wanted * 1.001 + 1e-9);
}

TEST(a_long_module_at_the_end_counts_whole)
{
	const double busy[] = {60e3, 2e3}, even[] = {0, 0};

	about(schedule_ms(busy, 2, 1e3, 13e3), 60e3);
	about(schedule_ms(busy, 2, 70e3, 70e3), 72e3);
	about(schedule_ms(even, 2, 1e3, 13e3), 6.5e3);
	about(schedule_ms(even, 0, 1e3, 1e3), 1e3);
}

TEST(the_pace_follows_finished_modules)
{
	struct pace pace = {0};

	about(pace_ms(&pace, 1, 700), 700);
	pace_take(&pace, 1, 7, -1);
	pace_take(&pace, 1, 1e300, 7);
	pace_spend(&pace, 7, 1e300);
	about(pace_ms(&pace, 1, 700), 700);
	pace_take(&pace, 1, 100e3, 300e3);
	assert_true(pace_ms(&pace, 1, 1000) > 2900);
	assert_true(pace_ms(&pace, 1, 1000) < 3000);
}

/* The time of one short module says less about a long one than about another short one, but the
 * machine's load affects both. */
TEST(a_long_module_keeps_its_prediction)
{
	struct pace slow = {0}, crowded = {0};

	pace_take(&slow, 1, 2e3, 8e3);
	assert_true(pace_ms(&slow, 1, 100e3) < 200e3);
	assert_true(pace_ms(&slow, 1, 1e3) > 2.5e3);
	pace_spend(&crowded, 2e3, 8e3);
	assert_true(pace_ms(&crowded, 1, 100e3) > 300e3);
}

TEST(the_share_of_the_processor_counts_before_any_module_has_ended)
{
	struct pace pace = {0};

	for (int second = 0; second < 8; second++)
		pace_spend(&pace, 500, 1000);
	assert_true(pace_ms(&pace, 1, 10e3) > 19.5e3 && pace_ms(&pace, 1, 10e3) < 20e3);
}

TEST(an_overdue_module_is_never_over)
{
	struct pace pace = {0};

	about(pace_left_ms(&pace, 1, 10e3, 2e3), 8e3);
	assert_true(pace_left_ms(&pace, 1, 10e3, 10e3) > 900);
	assert_true(pace_left_ms(&pace, 1, 10e3, 40e3) > 3900);
	pace_take_running(&pace, 10e3, 9e3);
	about(pace_ms(&pace, 1, 10e3), 10e3);
	pace_take_running(&pace, 10e3, 40e3);
	assert_true(pace_ms(&pace, 1, 10e3) > 20e3);
}

TEST(the_time_left_falls_or_stands_still)
{
	about(steady_seconds(80, 79), 79);
	about(steady_seconds(80, 81), 80);
	about(steady_seconds(80, 87), 80);
	/* Other programs have taken over the machine. */
	about(steady_seconds(80, 89), 89);
	about(steady_seconds(80, 0), 0);
}

/* ---- the modules of real libraries with their real times */

struct replayed {
	double model_ms, real_ms, begins_ms, ends_ms;
};

static int by_model(const void *a, const void *b)
{
	const struct replayed *left = a, *right = b;

	return (left->model_ms < right->model_ms) - (left->model_ms > right->model_ms);
}

static double schedule(struct replayed *modules, size_t count, size_t workers)
{
	double free_ms[8] = {0}, end_ms = 0;

	for (size_t i = 0; i < count; i++) {
		size_t first = 0;

		for (size_t w = 1; w < workers; w++)
			first = free_ms[w] < free_ms[first] ? w : first;
		modules[i].begins_ms = free_ms[first];
		free_ms[first] += modules[i].real_ms;
		modules[i].ends_ms = free_ms[first];
		end_ms = free_ms[first] > end_ms ? free_ms[first] : end_ms;
	}
	return end_ms;
}

static double guess(const struct replayed *modules, size_t count, size_t workers, double now_ms)
{
	struct pace pace = {0};
	double free_ms[8] = {0}, next_ms = 0, rest_ms = 0;
	size_t busy = 0;

	for (size_t i = 0; i < count; i++)
		if (modules[i].ends_ms <= now_ms)
			pace_take(&pace, 1, modules[i].model_ms, modules[i].real_ms);
	for (size_t i = 0; i < count; i++)
		if (modules[i].begins_ms <= now_ms && modules[i].ends_ms > now_ms)
			pace_take_running(&pace, modules[i].model_ms, now_ms - modules[i].begins_ms);
	for (size_t i = 0; i < count; i++) {
		const double ms = pace_ms(&pace, 1, modules[i].model_ms);

		if (modules[i].begins_ms > now_ms) {
			next_ms = rest_ms > 0 ? next_ms : ms;
			rest_ms += ms;
		} else if (modules[i].ends_ms > now_ms) {
			free_ms[busy++] =
				pace_left_ms(&pace, 1, modules[i].model_ms, now_ms - modules[i].begins_ms);
		}
	}
	return schedule_ms(free_ms, workers, next_ms, rest_ms);
}

static bool is_near(double said, double truth)
{
	return (said < truth * 1.4 && truth < said * 1.4) || fabs(said - truth) < 500;
}

static size_t read_modules(const char *name, struct replayed *modules)
{
	static struct costs_row rows[COSTS_MAX];
	const size_t count = costs_read(name, rows);

	for (size_t i = 0; i < count; i++) {
		struct plan_estimate estimate;

		plan_estimate(&estimate, &rows[i].features, 0, NULL);
		modules[i] = (struct replayed){.model_ms = estimate.cost_ms, .real_ms = rows[i].ms};
	}
	return count;
}

/* Counts how many of a hundred moments, from a tenth of the run on, are near the truth. */
static unsigned near_moments(struct replayed *modules, size_t count, size_t workers)
{
	const double end_ms = schedule(modules, count, workers);
	unsigned sum = 0;

	for (int i = 0; i < 100; i++) {
		const double now_ms = end_ms * (0.1 + 0.9 * i / 100);

		sum += is_near(guess(modules, count, workers, now_ms), end_ms - now_ms);
	}
	return sum;
}

/* The predictions are right for the whole library, or off by as much as a first estimate may be. */
TEST(the_time_left_is_near_for_real_libraries)
{
	static struct replayed modules[COSTS_MAX];
	static const double offs[] = {1, 1.25, 0.8, 1.6, 0.625};
	static const size_t workers[] = {1, 2, 4};
	/* `right` is the minimum if the predictions are right, `all` the mean. */
	static const struct {
		const char *name;
		unsigned right, all;
	} libraries[] = {
		{"driver-ctranslate2-2.24.0-sm90", 97, 83}, {"driver-ctranslate2-3.24.0-sm90", 76, 69},
		{"driver-ctranslate2-4.6.2-sm90", 92, 77},  {"driver-curand-10.2.10-sm90", 27, 46},
		{"driver-dgl-0.6.1-sm90", 89, 85},          {"driver-implicit-0.6.2-sm90", 89, 80},
		{"driver-spconv-2.1.25-sm90", 94, 93},      {"driver-xgboost-1.0.2-sm86", 75, 79},
		{"driver-xgboost-1.7.6-sm90", 73, 76},      {"ptxas-tensorflow-2.3.1-windows-sm86", 68, 73},
		{"ptxas-xgboost-1.7.6-sm90", 68, 70},       {"ptxas-ctranslate2-4.6.2-sm90", 12, 25},
	};

	for (size_t library = 0; library < sizeof libraries / sizeof *libraries; library++) {
		const size_t count = read_modules(libraries[library].name, modules);
		double model_ms = 0, real_ms = 0;
		unsigned sum = 0, least = 100;

		for (size_t i = 0; i < count; i++) {
			model_ms += modules[i].model_ms;
			real_ms += modules[i].real_ms;
		}
		qsort(modules, count, sizeof *modules, by_model);
		for (size_t o = 0; o < sizeof offs / sizeof *offs; o++) {
			const double factor = offs[o] * real_ms / model_ms;

			for (size_t i = 0; i < count; i++)
				modules[i].model_ms *= factor;
			for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
				const unsigned near_here = near_moments(modules, count, workers[w]);

				least = !o && near_here < least ? near_here : least;
				sum += near_here;
			}
			for (size_t i = 0; i < count; i++)
				modules[i].model_ms /= factor;
		}
		print_message("%s: right %u, all %u\n", libraries[library].name, least, sum / 15);
		assert_true(least >= libraries[library].right && sum / 15 >= libraries[library].all);
	}
}

RUN_TESTS(NULL, NULL)
