/* How much longer this machine takes than the model predicts. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "driver/speed_model.h"
#include "folder.h"
#include "os/file.h"
#include "plan/estimate.h"

static const struct jw_driver old_driver = {.cuda = 12020, .release = {535, 309, 1}};
static const struct jw_driver new_driver = {.cuda = 12040, .release = {550, 163, 1}};
static const struct jw_driver same_branch = {.cuda = 12040, .release = {550, 54, 15}};

/* A run over `seconds` of work by the model that took `factor` times as long. */
static struct speed_time run_of(double seconds, double factor)
{
	const double ms = seconds * 1000;

	return (struct speed_time){ms, ms * factor, ms * factor, ms * factor / 10, 10, 0};
}

static void about(double value, double wanted)
{
	if (!(fabs(value / wanted - 1) < 0.03))
		fail_msg("%g, not %g", value, wanted);
}

/* For a program of a second. */
static struct jw_speed speed_at(const struct speed_table *table, const struct jw_driver *driver)
{
	const struct jw_speed speed = speed_of(table, driver);

	return plan_speed_for(&speed, 1000, false);
}

static double recalled(const char *state_dir)
{
	const struct jw_speed speed = speed_recall(state_dir, &new_driver);

	return plan_speed_for(&speed, 1000, false).factor;
}

/* Modules of 21 and of 5 ms by the model, and `module_ms` each besides. */
static struct speed_sizes gauge_of(double slope, double module_ms)
{
	const double large = 21 * slope + module_ms, small = 5 * slope + module_ms;

	return (struct speed_sizes){.large = {42, 2 * large, 2 * large, large, 2, 0},
								.small = {5, small, small, small, 1, 0}};
}

TEST(the_gauge_calibrates_the_first_estimate)
{
	const struct speed_sizes slow = gauge_of(4, 30), fast = gauge_of(1, 0), none = {0},
							 crowded = gauge_of(4, -10);
	struct speed_table table = {.count = 0}, other = {.count = 0}, both = {.count = 0};
	struct jw_speed speed;

	speed_add_gauge(&table, &new_driver, &slow);
	assert_true(speed_is_known(&table, &new_driver));
	assert_true(speed_is_known(&table, &same_branch));
	assert_false(speed_is_known(&table, &old_driver));
	speed = speed_at(&table, &new_driver);
	/* What each module takes besides does not make the compiler slower. */
	about(speed.module_ms, 30);
	speed_add_gauge(&other, &new_driver, &fast);
	about(speed.factor / speed_at(&other, &new_driver).factor, 4);
	assert_true(speed_at(&other, &new_driver).module_ms < 1e-6);
	/* Other programs have slowed down the large modules. */
	speed_add_gauge(&both, &new_driver, &crowded);
	about(speed_at(&both, &new_driver).factor / speed_at(&other, &new_driver).factor, 3.36);
	/* The range is narrower than without the gauge. */
	assert_true(speed.spread > 1 && speed.spread < plan_spread(&(struct jw_speed){0}));
	/* One gauge per driver, the last. */
	speed_add_gauge(&table, &new_driver, &fast);
	assert_int_equal(table.count, 1);
	about(speed_at(&table, &new_driver).factor, speed_at(&other, &new_driver).factor);
	/* It was tried. */
	speed_add_gauge(&other, &old_driver, &none);
	assert_true(speed_is_known(&other, &old_driver));
	assert_true(speed_at(&other, &old_driver).spread == 0);
}

/* A slow machine has time for one module only. */
TEST(one_size_is_better_than_nothing)
{
	struct speed_table table = {.count = 0}, both = {.count = 0};

	speed_add_gauge(&table, &new_driver, &(struct speed_sizes){.large = {20, 200, 200, 200, 1, 0}});
	speed_add_gauge(
		&both, &new_driver,
		&(struct speed_sizes){.large = {20, 200, 200, 200, 1, 0}, .small = {5, 50, 50, 50, 1, 0}});
	about(speed_at(&table, &new_driver).factor, speed_at(&both, &new_driver).factor);
}

/* Something else has held one up. */
TEST(a_module_that_took_long_once_is_left_out)
{
	struct speed_table table = {.count = 0}, other = {.count = 0};
	struct speed_sizes held = {.large = {84, 4 * 42 + 300, 1000, 342, 4, 0},
							   .small = {20, 4 * 10 + 90, 1000, 100, 4, 0}};
	const struct speed_sizes fast = gauge_of(2, 0);

	speed_add_gauge(&table, &new_driver, &held);
	speed_add_gauge(&other, &new_driver, &fast);
	about(speed_at(&table, &new_driver).factor, speed_at(&other, &new_driver).factor);
	assert_true(speed_at(&table, &new_driver).module_ms < 1e-6);
}

/* Five times as fast as the model's machine: the driver found the modules in a cache. */
TEST(a_gauge_that_compiled_nothing_is_not_believed)
{
	const struct speed_sizes nothing = gauge_of(0.2, 0), backwards = gauge_of(-1, 90);
	struct speed_table table = {.count = 0};

	speed_add_gauge(&table, &new_driver, &nothing);
	assert_true(speed_at(&table, &new_driver).factor == 0);
	assert_true(speed_is_known(&table, &new_driver)); /* and not asked again */
	speed_add_gauge(&table, &new_driver, &backwards);
	assert_true(speed_at(&table, &new_driver).factor == 0);
}

/* What each module takes besides is not counted twice. */
TEST(a_run_of_many_modules_has_the_same_factor)
{
	const struct speed_sizes gauge = gauge_of(1, 30);
	struct speed_time run = run_of(10, 2);
	struct speed_table table = {.count = 0};

	run.modules = 100;
	run.cpu_ms += 3000;
	run.wall_ms += 3000;
	speed_add_gauge(&table, &new_driver, &gauge);
	speed_add(&table, &new_driver, &run);
	about(table.rows[0].real_ms, 20e3);
	run.modules = 100000;
	speed_add(&table, &new_driver, &run);
	assert_true(table.rows[0].real_ms > 30e3);
}

TEST(the_last_run_of_another_driver_is_the_fallback)
{
	const struct speed_time run = run_of(100, 4), later = run_of(100, 6);
	const struct speed_sizes gauge = gauge_of(1, 5), none = {0};
	const struct jw_driver third = {.cuda = 13000, .release = {580, 1, 1}};
	struct speed_table table = {.count = 0};

	speed_add(&table, &old_driver, &run);
	about(speed_at(&table, &new_driver).factor, 4);
	assert_true(speed_at(&table, &new_driver).spread == 0);
	speed_add(&table, &new_driver, &later);
	about(speed_at(&table, &old_driver).factor, 4);
	about(speed_at(&table, &third).factor, 6);
	/* Its own gauge is better, unless it gave nothing. */
	speed_add_gauge(&table, &third, &gauge);
	assert_true(speed_at(&table, &third).factor < 3);
	speed_add_gauge(&table, &third, &none);
	about(speed_at(&table, &third).factor, 6);
}

/* 280 KB of PTX are less than a second by the model; a large program is a minute or more. */
TEST(small_runs_do_not_move_the_prediction_of_large_programs)
{
	static const double LARGE_MS = 67e3;
	static const struct {
		double seconds, factor;
	} runs[] = {{0.4, 9}, {0.4, 7}, {0.5, 0.4}, {0.4, 8}};
	const struct speed_sizes gauge = gauge_of(1.5, 5);

	for (int measured = 0; measured < 2; measured++) {
		struct speed_table table = {.count = 0};
		struct jw_speed speed, before;

		if (measured)
			speed_add_gauge(&table, &new_driver, &gauge);
		speed = speed_of(&table, &new_driver);
		before = plan_speed_for(&speed, LARGE_MS, false);
		if (!measured)
			before.factor = PLAN_USUAL_FACTOR;
		for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
			struct speed_time run = run_of(runs[i].seconds, runs[i].factor);
			struct jw_speed large, same;

			run.modules = 0;
			speed_add(&table, &new_driver, &run);
			speed = speed_of(&table, &new_driver);
			large = plan_speed_for(&speed, LARGE_MS, false);
			same = plan_speed_for(&speed, 1000 * runs[i].seconds, false);
			if (fabs(large.factor / before.factor - 1) > 0.25)
				fail_msg("%g instead of %g after run %zu", large.factor, before.factor, i);
			/* Nor does its range become narrower. */
			assert_true(plan_spread(&large) > 0.97 * plan_spread(&before));
			if (!i)
				assert_true(same.factor > 1.5 * before.factor);
		}
		/* A run of its own size decides. */
		speed_add(&table, &new_driver, &(struct speed_time){60e3, 300e3, 300e3, 1e3, 0, 0});
		speed = speed_of(&table, &new_driver);
		before = plan_speed_for(&speed, LARGE_MS, false);
		assert_true(before.factor > 4 && before.factor < 5 && plan_spread(&before) < 1.6);
		/* And of the same program all the more. */
		before = plan_speed_for(&speed, LARGE_MS, true);
		about(before.factor, 5);
		assert_true(before.spread > 1 && before.spread < 1.3);
	}
}

TEST(a_busy_machine_is_hardly_believed)
{
	struct speed_time before = run_of(20, 1.5), busy = run_of(60, 3);
	struct speed_table table = {.count = 0};

	busy.wall_ms *= 6;
	speed_add(&table, &new_driver, &before);
	speed_add(&table, &new_driver, &busy);
	assert_true(speed_at(&table, &new_driver).factor < 1.65);
	/* Nor a driver that sleeps. */
	busy.cpu_ms = 0.001;
	speed_add(&table, &new_driver, &busy);
	assert_true(speed_at(&table, &new_driver).factor > 1.45);
}

TEST(the_table_does_not_grow)
{
	const struct speed_time run = run_of(10, 1.5);
	struct speed_table table = {.count = 0};

	for (uint32_t i = 0; i < 100; i++) {
		const struct jw_driver driver = {.cuda = 12000 + i, .release = {500 + i, 0, 0}};

		speed_add(&table, &driver, &run);
		assert_true(table.count <= LEARN_MOST_ROWS);
	}
	assert_int_equal(table.count, LEARN_MOST_ROWS);
	assert_int_equal(table.rows[LEARN_MOST_ROWS - 1].release, 599);
}

TEST(implausible_times_are_skipped)
{
	static const double times[] = {-5, 1e9, 1e300, (double)NAN, (double)INFINITY};
	const struct plan_module module = {.form = CACHE_KEY_LINK,
									   .features = {.statements = 1000, .entries = 1}};
	struct speed_time run = {0};

	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		speed_take(&run, &module, times[i], 50);
	/* It was found in a cache. */
	speed_take(&run, &module, 0.5, 0.5);
	speed_take(&run, &module, 50, (double)NAN);
	speed_take(&run, &module, 50, (double)INFINITY);
	assert_true(run.model_ms == 0);
	speed_take(&run, &module, 50, 60);
	speed_take(&run, &module, 0, 10);
	assert_true(run.model_ms > 60 && run.cpu_ms > 49 && run.cpu_ms < 51);
	assert_int_equal(run.modules, 2);
}

#define ROW(members) "{\"schema\":\"jitwarm.speed/3\",\"rows\":[{" members "}]}"

TEST(a_file_of_any_bytes_does_no_harm)
{
	static const char *const files[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"schema\":\"jitwarm.speed/3\"}",
		"{\"schema\":\"jitwarm.speed/3\",\"rows\":7}",
		"{\"schema\":\"jitwarm.speed/3\",\"rows\":[7,null,\"x\",[]]}",
		ROW("\"release\":550,\"cuda\":12040,\"slope\":\"fast\",\"module_ms\":0,\"model_ms\":1000,"
			"\"real_ms\":1000"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":0,\"module_ms\":0,\"model_ms\":1000"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":0,\"module_ms\":0,\"model_ms\":-1,\"real_"
			"ms\":-1"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":0,\"module_ms\":0,\"model_ms\":1e300,\"real_"
			"ms\":"
			"1e300"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":0,\"module_ms\":0,\"model_ms\":1,\"real_ms\":"
			"1e9"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":0,\"module_ms\":0,\"model_ms\":1e5,\"real_"
			"ms\":1"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":21,\"module_ms\":0,\"model_ms\":1,"
			"\"real_ms\":1"),
		ROW("\"release\":550,\"cuda\":12040,\"slope\":1,\"module_ms\":1e9,\"model_ms\":1,"
			"\"real_ms\":1"),
		ROW("\"release\":1e12,\"cuda\":12040,\"slope\":0,\"module_ms\":0,\"model_ms\":1,\"real_"
			"ms\":1"),
	};
	static const char sound[] = ROW("\"release\":550,\"cuda\":12040,\"slope\":0,\"module_ms\":0,"
									"\"model_ms\":1e5,\"real_ms\":2e5");
	struct speed_table table;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		speed_parse(files[i], strlen(files[i]), &table);
		if (table.count)
			fail_msg("taken for sound: %s", files[i]);
	}
	speed_parse(sound, sizeof sound - 1, &table);
	assert_int_equal(table.count, 1);
	about(speed_at(&table, &new_driver).factor, 2);
}

TEST_WITH(it_is_kept_in_the_state_directory, make_folder, remove_folder)
{
	struct speed_time run = run_of(100, 1.7), nothing = run_of(0, 0);
	char *place = os_join(folder, "state"), *path = os_join(folder, "state/speed.json");

	speed_remember(place, &new_driver, &nothing);
	assert_false(os_exists(path));
	speed_remember(place, &new_driver, &run);
	about(recalled(place), 1.7);
	run.program_bytes = 77;
	speed_remember(place, &new_driver, &run);
	run.program_bytes = 0; /* a part of another one */
	speed_remember(place, &new_driver, &run);
	assert_int_equal(speed_recall(place, &new_driver).program_bytes, 77);
	OK(os_write_atomic(why, path, "\0garbage", 8));
	assert_true(recalled(place) == 0);
	speed_remember(place, &new_driver, &run);
	about(recalled(place), 1.7);
	/* Without a state directory. */
	speed_remember(NULL, &new_driver, &run);
	assert_true(recalled(NULL) == 0);
	mem_free(place);
	mem_free(path);
}

RUN_TESTS(NULL, NULL)
