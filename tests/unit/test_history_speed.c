/* How much longer this machine takes than the model predicts. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "folder.h"
#include "history/speed_model.h"
#include "os/file.h"

static const struct jw_driver old_driver = {.cuda = 12020, .release = {535, 309, 1}};
static const struct jw_driver new_driver = {.cuda = 12040, .release = {550, 163, 1}};
static const struct jw_driver same_branch = {.cuda = 12040, .release = {550, 54, 15}};

static double usual(enum cache_key_form form)
{
	const struct plan_factors none = {0};

	return plan_factor(&none, form);
}

/* A run over `seconds` of work by the model that took `factor` times as long. */
static struct speed_run run_of(double load_s, double load_factor, double link_s, double link_factor)
{
	double load_ms = load_s * 1000, link_ms = link_s * 1000;

	return (struct speed_run){{load_ms, load_ms * load_factor, load_ms * load_factor},
							  {link_ms, link_ms * link_factor, link_ms * link_factor}};
}

static void about(double value, double wanted)
{
	if (!(fabs(value / wanted - 1) < 0.03))
		fail_msg("%g, not %g", value, wanted);
}

static void nothing_is_known_at_first(void **state)
{
	const struct speed_table table = {.count = 0};
	const struct plan_factors factors = speed_factors(&table, &new_driver);

	(void)state;
	assert_true(factors.load == 0 && factors.link == 0);
	assert_true(plan_factor(&factors, CACHE_KEY_LOAD) >= 1);
	assert_true(plan_factor(&factors, CACHE_KEY_TEXT) == plan_factor(&factors, CACHE_KEY_LOAD));
	assert_true(plan_factor(&factors, CACHE_KEY_LINK) >= 1);
}

/* The gauge: 130 ms by the model, `share` of the wall time. */
static struct speed_time gauge_of(double factor, double share)
{
	return (struct speed_time){130, 130 * factor, 130 * factor / share};
}

static void the_gauge_calibrates_the_first_estimate(void **state)
{
	const struct speed_time slow = gauge_of(4, 1), fast = gauge_of(1, 1), none = {0};
	struct speed_table table = {.count = 0}, other = {.count = 0};
	struct plan_factors factors;

	(void)state;
	assert_false(speed_is_known(&table, &new_driver));
	speed_add_gauge(&table, &new_driver, &slow);
	assert_true(speed_is_known(&table, &new_driver));
	assert_true(speed_is_known(&table, &same_branch));
	assert_false(speed_is_known(&table, &old_driver));
	factors = speed_factors(&table, &new_driver);
	speed_add_gauge(&other, &new_driver, &fast);
	/* So short a measurement leaves an eighth to what is usual. */
	about((factors.load - usual(CACHE_KEY_LOAD) / 8) /
			  (speed_factors(&other, &new_driver).load - usual(CACHE_KEY_LOAD) / 8),
		  4);
	about((factors.link - usual(CACHE_KEY_LINK) / 8) /
			  (speed_factors(&other, &new_driver).link - usual(CACHE_KEY_LINK) / 8),
		  4);
	about(speed_factors_by_gauge(&new_driver, &slow).load, factors.load);
	/* The range is narrower than without the gauge, and wider than after a run. */
	assert_true(factors.spread > 1 && factors.spread < plan_spread(&(struct plan_factors){0}));
	/* One gauge per driver, the last. */
	speed_add_gauge(&table, &new_driver, &fast);
	assert_int_equal(table.count, 1);
	speed_add_gauge(&other, &old_driver, &none);
	assert_true(speed_is_known(&other, &old_driver));
	assert_true(speed_factors(&other, &old_driver).spread == 0);
	about(speed_factors(&table, &new_driver).load, speed_factors_by_gauge(&new_driver, &fast).load);
}

/* Five times as fast as the model's machine: the driver found the modules in a cache. */
static void a_gauge_that_compiled_nothing_is_not_believed(void **state)
{
	const struct speed_time nothing = gauge_of(0.2, 1);
	struct speed_table table = {.count = 0};

	(void)state;
	speed_add_gauge(&table, &new_driver, &nothing);
	assert_true(speed_factors(&table, &new_driver).load == 0);
	assert_true(speed_is_known(&table, &new_driver)); /* and not asked again */
}

static void a_run_of_the_same_kind_is_the_better_fallback(void **state)
{
	const struct speed_run loads = run_of(100, 2 * usual(CACHE_KEY_LOAD), 0, 0),
						   links = run_of(0, 0, 100, 3 * usual(CACHE_KEY_LINK));
	struct speed_table table = {.count = 0};

	(void)state;
	speed_add(&table, &old_driver, &loads);
	speed_add(&table, &same_branch, &links);
	about(speed_factors(&table, &(struct jw_driver){.cuda = 13000, .release = {580, 1, 1}}).load,
		  2 * usual(CACHE_KEY_LOAD));
}

/* It counts for half its own length: little beside a run. */
static void a_run_is_believed_before_the_gauge(void **state)
{
	const struct speed_time gauge = gauge_of(4, 1), busy = gauge_of(4, 0.3);
	const struct speed_run run = run_of(20, 2, 0, 0), tiny = run_of(0.02, 2, 0, 0);
	struct speed_table table = {.count = 0}, little = {.count = 0};
	struct plan_factors before, after;

	(void)state;
	speed_add_gauge(&table, &new_driver, &gauge);
	before = speed_factors(&table, &new_driver);
	speed_add(&table, &new_driver, &run);
	after = speed_factors(&table, &new_driver);
	about(after.load, (20 * 2 + 0.065 * before.load) / 20.065);
	assert_true(after.spread > 1 && after.spread < before.spread);
	about(after.link, before.link);
	speed_add_gauge(&little, &new_driver, &gauge);
	speed_add(&little, &new_driver, &tiny);
	assert_true(speed_factors(&little, &new_driver).load > 0.7 * before.load);
	/* Both were measured on a busy processor. */
	speed_add_gauge(&little, &new_driver, &busy);
	assert_true(speed_factors(&little, &new_driver).load < 0.7 * before.load);
}

static void a_long_run_is_believed(void **state)
{
	const struct speed_run run = run_of(100, 1.7, 100, 3.1);
	struct speed_table table = {.count = 0};
	struct plan_factors factors;

	(void)state;
	speed_add(&table, &new_driver, &run);
	assert_int_equal(table.count, 2);
	factors = speed_factors(&table, &new_driver);
	about(factors.load, 1.7);
	about(factors.link, 3.1);
	factors = speed_factors(&table, &same_branch);
	about(factors.load, 1.7);
	about(plan_factor(&factors, CACHE_KEY_LINK), 3.1);
}

static void three_tiny_modules_do_not_decide(void **state)
{
	const struct speed_run run = run_of(0.05, 15, 0, 0);
	struct speed_table table = {.count = 0};

	(void)state;
	speed_add(&table, &new_driver, &run);
	assert_true(speed_factors(&table, &new_driver).load < 2 * usual(CACHE_KEY_LOAD));
}

static void another_driver_and_form_are_the_fallback(void **state)
{
	const struct speed_run run = run_of(100, 2 * usual(CACHE_KEY_LOAD), 0, 0),
						   other = run_of(100, 3 * usual(CACHE_KEY_LOAD), 0, 0);
	struct speed_table table = {.count = 0};

	(void)state;
	speed_add(&table, &old_driver, &run);
	about(speed_factors(&table, &new_driver).load, 2 * usual(CACHE_KEY_LOAD));
	about(speed_factors(&table, &new_driver).link, 2 * usual(CACHE_KEY_LINK));
	speed_add(&table, &new_driver, &other);
	about(speed_factors(&table, &old_driver).load, 2 * usual(CACHE_KEY_LOAD));
	about(speed_factors(&table, &new_driver).load, 3 * usual(CACHE_KEY_LOAD));
}

static void a_machine_that_has_changed_is_believed_soon(void **state)
{
	const struct speed_run before = run_of(100000, 1.2, 0, 0), after = run_of(120, 2.4, 0, 0);
	struct speed_table table = {.count = 0};

	(void)state;
	speed_add(&table, &new_driver, &before);
	about(speed_factors(&table, &new_driver).load, 1.2);
	speed_add(&table, &new_driver, &after);
	about(speed_factors(&table, &new_driver).load, 1.8);
	for (int i = 0; i < 5; i++)
		speed_add(&table, &new_driver, &after);
	about(speed_factors(&table, &new_driver).load, 2.4);
	assert_int_equal(table.count, 1);
}

static void a_busy_machine_is_hardly_believed(void **state)
{
	struct speed_run before = run_of(20, 1.5, 0, 0), busy = run_of(60, 3, 0, 0);
	struct speed_table table = {.count = 0};

	(void)state;
	busy.load.wall_ms *= 6;
	speed_add(&table, &new_driver, &before);
	speed_add(&table, &new_driver, &busy);
	assert_true(speed_factors(&table, &new_driver).load < 1.65);
	/* Nor a driver that sleeps. */
	busy.load.cpu_ms = 0.001;
	speed_add(&table, &new_driver, &busy);
	assert_true(speed_factors(&table, &new_driver).load > 1.45);
}

static void the_table_does_not_grow(void **state)
{
	const struct speed_run run = run_of(10, 1.5, 10, 1.5);
	struct speed_table table = {.count = 0};

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		const struct jw_driver driver = {.cuda = 12000 + i, .release = {500 + i, 0, 0}};

		speed_add(&table, &driver, &run);
		assert_true(table.count <= LEARN_MOST_ROWS);
	}
	assert_int_equal(table.count, LEARN_MOST_ROWS);
	assert_int_equal(table.rows[LEARN_MOST_ROWS - 1].release, 599);
}

static void implausible_times_are_skipped(void **state)
{
	static const double times[] = {-5, 1e9, 1e300, (double)NAN, (double)INFINITY};
	const struct plan_module module = {.form = CACHE_KEY_LINK,
									   .features = {.statements = 1000, .entries = 1}};
	struct speed_run run = {{0, 0, 0}, {0, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		speed_take(&run, &module, times[i], 50);
	/* It was found in a cache. */
	speed_take(&run, &module, 0.5, 0.5);
	speed_take(&run, &module, 50, (double)NAN);
	speed_take(&run, &module, 50, (double)INFINITY);
	assert_true(run.link.model_ms == 0 && run.load.model_ms == 0);
	speed_take(&run, &module, 50, 60);
	speed_take(&run, &module, 0, 10);
	assert_true(run.link.model_ms > 60 && run.load.model_ms == 0);
	assert_true(run.link.cpu_ms > 49 && run.link.cpu_ms < 51);
}

#define ROW(members) "{\"schema\":\"jitwarm.speed/2\",\"rows\":[{" members "}]}"

static void a_file_of_any_bytes_does_no_harm(void **state)
{
	static const char *const files[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"schema\":\"jitwarm.speed/2\"}",
		"{\"schema\":\"jitwarm.speed/2\",\"rows\":7}",
		"{\"schema\":\"jitwarm.speed/2\",\"rows\":[7,null,\"x\",[]]}",
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"bake\",\"model_ms\":1000,\"real_ms\":1000"),
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"load\",\"model_ms\":1000"),
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"load\",\"model_ms\":-1,\"real_ms\":-1"),
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"load\",\"model_ms\":1e300,\"real_ms\":"
			"1e300"),
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"load\",\"model_ms\":1,\"real_ms\":1e9"),
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"load\",\"model_ms\":1e5,\"real_ms\":1"),
		ROW("\"release\":1e12,\"cuda\":12040,\"form\":\"load\",\"model_ms\":1,\"real_ms\":1"),
	};
	static const char sound[] =
		ROW("\"release\":550,\"cuda\":12040,\"form\":\"load\",\"model_ms\":1e5,\"real_ms\":2e5");
	struct speed_table table;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		speed_parse(files[i], strlen(files[i]), &table);
		if (table.count)
			fail_msg("taken for sound: %s", files[i]);
	}
	speed_parse(sound, sizeof sound - 1, &table);
	assert_int_equal(table.count, 1);
	about(speed_factors(&table, &new_driver).load, 2);
}

static void it_is_kept_in_the_state_directory(void **state)
{
	const struct speed_run run = run_of(100, 1.7, 0, 0), nothing = run_of(0, 0, 0, 0);
	char *place = os_join(NULL, folder, "state"), *path = os_join(NULL, folder, "state/speed.json");

	(void)state;
	speed_remember(place, &new_driver, &nothing);
	assert_false(os_exists(path));
	speed_remember(place, &new_driver, &run);
	about(speed_recall(place, &new_driver).load, 1.7);
	assert_int_equal(os_write_atomic(NULL, path, "\0garbage", 8), 0);
	assert_true(speed_recall(place, &new_driver).load == 0);
	speed_remember(place, &new_driver, &run);
	about(speed_recall(place, &new_driver).load, 1.7);
	/* Without a state directory. */
	speed_remember(NULL, &new_driver, &run);
	assert_true(speed_recall(NULL, &new_driver).load == 0);
	mem_free(place);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known_at_first),
		cmocka_unit_test(the_gauge_calibrates_the_first_estimate),
		cmocka_unit_test(a_gauge_that_compiled_nothing_is_not_believed),
		cmocka_unit_test(a_run_of_the_same_kind_is_the_better_fallback),
		cmocka_unit_test(a_run_is_believed_before_the_gauge),
		cmocka_unit_test(a_long_run_is_believed),
		cmocka_unit_test(three_tiny_modules_do_not_decide),
		cmocka_unit_test(another_driver_and_form_are_the_fallback),
		cmocka_unit_test(a_machine_that_has_changed_is_believed_soon),
		cmocka_unit_test(a_busy_machine_is_hardly_believed),
		cmocka_unit_test(the_table_does_not_grow),
		cmocka_unit_test(implausible_times_are_skipped),
		cmocka_unit_test(a_file_of_any_bytes_does_no_harm),
		cmocka_unit_test_setup_teardown(it_is_kept_in_the_state_directory, make_folder,
										remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
