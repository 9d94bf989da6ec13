#include "check.h"

#include <math.h>

#include "costs.h"
#include "run/time_left.h"

static void about(double is, double wanted)
{
	assert_true(is > wanted * 0.999 - 1e-9 && is < wanted * 1.001 + 1e-9);
}

static void a_long_module_at_the_end_counts_whole(void **state)
{
	double busy[2] = {60e3, 0}, even[2] = {0, 0};
	const double next[] = {1e3, 1e3, 1e3};

	(void)state;
	about(schedule_ms(busy, 2, next, 3, 10e3), 60e3);
	about(schedule_ms(even, 2, next, 3, 10e3), 6.5e3);
}

/* One module more than workers takes twice as long as one. */
static void modules_are_not_divided(void **state)
{
	double four[4] = {0};
	const double next[] = {1e3, 1e3, 1e3, 1e3, 1e3};

	(void)state;
	about(schedule_ms(four, 4, next, 5, 0), 2e3);
	about(schedule_ms(four, 0, next, 5, 0), 0);
}

static void the_pace_follows_finished_modules(void **state)
{
	struct pace pace = {0};

	(void)state;
	about(pace_ms(&pace, CACHE_KEY_LOAD, 700), 700);
	pace_take(&pace, CACHE_KEY_LOAD, 7, -1, 7);
	pace_take(&pace, CACHE_KEY_LOAD, 7, 7, 1e300);
	about(pace_ms(&pace, CACHE_KEY_LOAD, 700), 700);
	pace_take(&pace, CACHE_KEY_LOAD, 100e3, 300e3, 300e3);
	assert_true(pace_ms(&pace, CACHE_KEY_TEXT, 1000) > 2900);
	assert_true(pace_ms(&pace, CACHE_KEY_LOAD, 1000) < 3000);
	/* Nothing was linked yet: as for the other form. */
	assert_true(pace_ms(&pace, CACHE_KEY_LINK, 1000) > 2900);
	pace_take(&pace, CACHE_KEY_LINK, 100e3, 100e3, 100e3);
	assert_true(pace_ms(&pace, CACHE_KEY_LINK, 1000) < 1100);
	assert_true(pace_ms(&pace, CACHE_KEY_LOAD, 1000) > 2900);
}

/* The time of a short module says little about a long one, but the machine's load affects both. */
static void a_long_module_keeps_its_prediction(void **state)
{
	struct pace slow = {0}, crowded = {0};

	(void)state;
	pace_take(&slow, CACHE_KEY_LOAD, 2e3, 8e3, 8e3);
	assert_true(pace_ms(&slow, CACHE_KEY_LOAD, 100e3) < 130e3);
	assert_true(pace_ms(&slow, CACHE_KEY_LOAD, 1e3) > 2.5e3);
	pace_take(&crowded, CACHE_KEY_LOAD, 2e3, 2e3, 8e3);
	assert_true(pace_ms(&crowded, CACHE_KEY_LOAD, 100e3) > 300e3);
}

static void an_overdue_module_is_never_over(void **state)
{
	struct pace pace = {0};

	(void)state;
	about(pace_left_ms(&pace, CACHE_KEY_LOAD, 10e3, 2e3), 8e3);
	assert_true(pace_left_ms(&pace, CACHE_KEY_LOAD, 10e3, 10e3) > 900);
	assert_true(pace_left_ms(&pace, CACHE_KEY_LOAD, 10e3, 40e3) > 3900);
	pace_take_running(&pace, CACHE_KEY_LOAD, 10e3, 9e3);
	about(pace_ms(&pace, CACHE_KEY_LOAD, 10e3), 10e3);
	pace_take_running(&pace, CACHE_KEY_LOAD, 10e3, 40e3);
	assert_true(pace_ms(&pace, CACHE_KEY_LOAD, 10e3) > 20e3);
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
	double free_ms[8] = {0}, next_ms[COSTS_MOST];
	size_t busy = 0, next = 0;

	for (size_t i = 0; i < count; i++)
		if (modules[i].ends_ms <= now_ms)
			pace_take(&pace, CACHE_KEY_LOAD, modules[i].model_ms, modules[i].real_ms,
					  modules[i].real_ms);
	for (size_t i = 0; i < count; i++)
		if (modules[i].begins_ms <= now_ms && modules[i].ends_ms > now_ms)
			pace_take_running(&pace, CACHE_KEY_LOAD, modules[i].model_ms,
							  now_ms - modules[i].begins_ms);
	for (size_t i = 0; i < count; i++) {
		if (modules[i].begins_ms > now_ms)
			next_ms[next++] = pace_ms(&pace, CACHE_KEY_LOAD, modules[i].model_ms);
		else if (modules[i].ends_ms > now_ms)
			free_ms[busy++] = pace_left_ms(&pace, CACHE_KEY_LOAD, modules[i].model_ms,
										   now_ms - modules[i].begins_ms);
	}
	return schedule_ms(free_ms, workers, next_ms, next, 0);
}

static bool is_near(double said, double truth)
{
	return fabs(said - truth) * 3 <= truth || fabs(said - truth) < 500;
}

/* From a tenth of the run on. The model is as far off as it is for these libraries. */
static void the_time_left_is_near_for_real_libraries(void **state)
{
	static struct replayed modules[COSTS_MOST];
	static struct costs_row rows[COSTS_MOST];
	static const size_t workers[] = {1, 2, 4};
	/* One module of CTranslate2 takes two thirds of its time, and the model is a third off there.
	 */
	static const size_t least[COSTS_LIBRARIES] = {80, 70, 60, 0};
	char *folder = costs_folder();

	(void)state;
	if (!os_exists(folder)) {
		mem_free(folder);
		skip();
	}
	for (size_t library = 0; library < COSTS_LIBRARIES; library++) {
		const size_t count = costs_read(folder, costs_libraries[library].name, rows);

		for (size_t i = 0; i < count; i++) {
			struct plan_estimate estimate;

			plan_estimate(&estimate, &rows[i].features, 0, 1);
			/* Without most of the 8 ms for the start of ptxas: the driver's compiler is already
			 * running. */
			modules[i] = (struct replayed){
				estimate.cost_ms, rows[i].compile_ms > 7 ? rows[i].compile_ms - 6 : 1, 0, 0};
		}
		qsort(modules, count, sizeof *modules, by_model);
		for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
			const double end_ms = schedule(modules, count, workers[w]);
			size_t near_here = 0;

			for (int i = 0; i < 100; i++) {
				const double now_ms = end_ms * (0.1 + 0.9 * i / 100), truth = end_ms - now_ms;

				near_here += is_near(guess(modules, count, workers[w], now_ms), truth);
			}
			print_message("%s, %u workers, %.1f s: near %u times of 100\n",
						  costs_libraries[library].name, (unsigned)workers[w], end_ms / 1000,
						  (unsigned)near_here);
			assert_true(near_here >= least[library]);
		}
	}
	mem_free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_module_at_the_end_counts_whole),
		cmocka_unit_test(modules_are_not_divided),
		cmocka_unit_test(the_pace_follows_finished_modules),
		cmocka_unit_test(a_long_module_keeps_its_prediction),
		cmocka_unit_test(an_overdue_module_is_never_over),
		cmocka_unit_test(the_time_left_is_near_for_real_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
