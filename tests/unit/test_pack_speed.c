/* Each run improves the factor by which this machine is slower than the model, and no implausible
 * time does. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "costs.h"

#include "driver/speed_model.h"
#include "folder.h"
#include "os/file.h"
#include "plan/estimate.h"

static const struct jw_driver old_driver = {.cuda = 12020, .release = {535, 309, 1}};
static const struct jw_driver new_driver = {.cuda = 12040, .release = {550, 163, 1}};
static const struct jw_driver same_branch = {.cuda = 12040, .release = {550, 54, 15}};

/* Makes a run over `seconds` of work by the model that took `factor` times as long. */
static struct speed_time run_of(double seconds, double factor)
{
	const double ms = seconds * 1000;

	return (struct speed_time){ms, ms * factor, ms * factor};
}

static void about(double value, double wanted)
{
	if (!(fabs(value / wanted - 1) < 0.03))
		fail_msg("%g, not %g", value, wanted);
}

static double factor_of(const struct speed_table *table, const struct jw_driver *driver)
{
	return speed_of(table, driver).factor;
}

static double recalled(const char *state_dir)
{
	return speed_recall(state_dir, &new_driver).factor;
}

TEST(each_driver_branch_learns_its_own_factor)
{
	const struct speed_time slow = run_of(100, 4), fast = run_of(100, 1);
	struct speed_table table = {.count = 0};

	assert_true(factor_of(&table, &new_driver) == 0);
	speed_add(&table, &new_driver, &slow);
	speed_add(&table, &old_driver, &fast);
	about(factor_of(&table, &new_driver), 4);
	about(factor_of(&table, &same_branch), 4);
	about(factor_of(&table, &old_driver), 1);
	assert_true(speed_of(&table, &same_branch).measured);
}

TEST(the_last_run_of_another_driver_is_the_fallback)
{
	const struct speed_time run = run_of(100, 4), later = run_of(100, 6);
	const struct jw_driver third = {.cuda = 13000, .release = {580, 1, 1}};
	struct speed_table table = {.count = 0};

	speed_add(&table, &old_driver, &run);
	about(factor_of(&table, &new_driver), 4);
	assert_false(speed_of(&table, &new_driver).measured);
	speed_add(&table, &new_driver, &later);
	about(factor_of(&table, &old_driver), 4);
	about(factor_of(&table, &third), 6);
	speed_add(&table, &old_driver, &run);
	about(factor_of(&table, &third), 4);
}

/* Three tiny modules do not decide. */
TEST(a_tiny_run_hardly_moves_the_factor)
{
	const struct speed_time tiny = run_of(0.02, 9);
	struct speed_table table = {.count = 0};

	speed_add(&table, &new_driver, &tiny);
	assert_true(factor_of(&table, &new_driver) < 1.2 * PLAN_USUAL_FACTOR);
}

/* The first BY_DRIVER libraries were compiled by the driver's compiler on a busy machine, the
 * others by ptxas on another one. */
static const char *const libraries[] = {
	"driver-ctranslate2-2.24.0-sm90", "driver-ctranslate2-3.24.0-sm90",
	"driver-ctranslate2-4.6.2-sm90",  "driver-cupy-12.3.0-random-sm90",
	"driver-curand-10.2.10-sm90",     "driver-dgl-0.6.1-sm90",
	"driver-implicit-0.6.2-sm90",     "driver-spconv-2.1.25-sm90",
	"driver-tensorflow-2.18.0-sm90",  "driver-warp-lang-0.10.1-sm90",
	"driver-xgboost-1.0.2-sm86",      "driver-xgboost-1.7.6-sm90",
	"ptxas-ctranslate2-4.6.2-sm90",   "ptxas-tensorflow-2.10.0-windows-sm86",
	"ptxas-xgboost-1.7.6-sm90",       "ptxas-tensorflow-2.3.1-windows-sm86",
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries, BY_DRIVER = 12 };

static struct speed_time library_time(const char *name)
{
	static struct costs_row rows[COSTS_MAX];
	const size_t count = costs_read(name, rows);
	struct speed_time time = {0};

	for (size_t i = 0; i < count; i++) {
		struct plan_estimate estimate;

		plan_estimate(&estimate, &rows[i].features, (uint64_t)rows[i].ptx_bytes, NULL);
		time.model_ms += estimate.cost_ms;
		time.cpu_ms += rows[i].ms;
	}
	time.wall_ms = time.cpu_ms;
	return time;
}

static double off_by(const struct speed_time *real, double factor)
{
	const double ratio = real->model_ms * factor / real->cpu_ms;

	return ratio > 1 ? ratio : 1 / ratio;
}

/* Nine of ten totals are within a factor of three before the first run, and of two after it. */
TEST(totals_of_real_libraries_are_near_the_prediction)
{
	struct speed_time times[LIBRARIES];
	size_t before = 0, after = 0, pairs = 0;

	for (size_t i = 0; i < LIBRARIES; i++) {
		times[i] = library_time(libraries[i]);
		before += off_by(&times[i], PLAN_USUAL_FACTOR) < 3;
	}
	for (size_t first = 0; first < LIBRARIES; first++) {
		struct speed_table table = {.count = 0};

		speed_add(&table, &new_driver, &times[first]);
		for (size_t i = first < BY_DRIVER ? 0 : BY_DRIVER;
			 i < (first < BY_DRIVER ? BY_DRIVER : LIBRARIES); i++) {
			pairs++;
			after += off_by(&times[i], factor_of(&table, &new_driver)) < PLAN_RANGE;
		}
	}
	if (before * 10 < LIBRARIES * 9 || after * 10 < pairs * 9)
		fail_msg("%zu of %d before, %zu of %zu after", before, (int)LIBRARIES, after, pairs);
}

TEST(a_busy_machine_is_hardly_believed)
{
	struct speed_time before = run_of(20, 1.5), busy = run_of(60, 3);
	struct speed_table table = {.count = 0};

	busy.wall_ms *= 6;
	speed_add(&table, &new_driver, &before);
	speed_add(&table, &new_driver, &busy);
	assert_true(factor_of(&table, &new_driver) < 1.65);
	/* A driver that sleeps has no speed either. */
	busy.cpu_ms = 0.001;
	speed_add(&table, &new_driver, &busy);
	assert_true(factor_of(&table, &new_driver) > 1.45);
}

TEST(the_table_does_not_grow)
{
	const struct speed_time run = run_of(10, 1.5);
	struct speed_table table = {.count = 0};

	for (uint32_t i = 0; i < 100; i++) {
		const struct jw_driver driver = {.cuda = 12000 + i, .release = {500 + i, 0, 0}};

		speed_add(&table, &driver, &run);
		assert_true(table.count <= LEARN_MAX_ROWS);
	}
	assert_int_equal(table.count, LEARN_MAX_ROWS);
	assert_int_equal(table.rows[LEARN_MAX_ROWS - 1].release, 599);
}

TEST(implausible_times_are_skipped)
{
	static const double times[] = {-5, 1e9, 1e300, (double)NAN, (double)INFINITY};
	const struct plan_module module = {.form = CACHE_KEY_LINK,
									   .features = {.statements = 1000, .entries = 1}};
	struct speed_time run = {0};

	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		speed_take(&run, &module, times[i], 50);
	/* The module was found in a cache. */
	speed_take(&run, &module, 0.5, 0.5);
	speed_take(&run, &module, 50, (double)NAN);
	speed_take(&run, &module, 50, (double)INFINITY);
	assert_true(run.model_ms == 0);
	speed_take(&run, &module, 50, 60);
	speed_take(&run, &module, 0, 10);
	assert_true(run.model_ms > 60 && run.cpu_ms > 49 && run.cpu_ms < 51);
}

#define ROW(members) "{\"schema\":\"jitwarm.speed/4\",\"rows\":[{" members "}]}"

static void parse(const char *text, struct speed_table *ret_table)
{
	cJSON *kept = json_parse(NULL, text, strlen(text));

	speed_take_rows(kept, ret_table);
	cJSON_Delete(kept);
}

TEST(a_file_of_any_bytes_does_no_harm)
{
	static const char *const files[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"schema\":\"jitwarm.speed/4\"}",
		"{\"schema\":\"jitwarm.speed/4\",\"rows\":7}",
		"{\"schema\":\"jitwarm.speed/4\",\"rows\":[7,null,\"x\",[]]}",
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":\"long\",\"real_ms\":1000"),
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":1000"),
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":0,\"real_ms\":0"),
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":-1,\"real_ms\":-1"),
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":1e300,\"real_ms\":1e300"),
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":1,\"real_ms\":1e9"),
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":1e5,\"real_ms\":1"),
		ROW("\"release\":1e12,\"cuda\":12040,\"model_ms\":1,\"real_ms\":1"),
		("{\"schema\":\"jitwarm.speed/3\",\"rows\":[{\"release\":550,\"cuda\":12040,"
		 "\"model_ms\":1e5,\"real_ms\":2e5}]}"),
	};
	static const char sound[] =
		ROW("\"release\":550,\"cuda\":12040,\"model_ms\":1e5,\"real_ms\":2e5");
	struct speed_table table;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		parse(files[i], &table);
		if (table.count)
			fail_msg("taken for sound: %s", files[i]);
	}
	parse(sound, &table);
	assert_int_equal(table.count, 1);
	about(factor_of(&table, &new_driver), 2);
}

TEST_WITH(it_is_kept_in_the_state_directory, make_folder, remove_folder)
{
	struct speed_time run = run_of(100, 1.7), nothing = run_of(0, 0);
	char *place = keep(os_join(folder, "state")), *path = keep(os_join(folder, "state/state.json"));

	speed_remember(place, &new_driver, &nothing);
	assert_false(os_exists(path));
	speed_remember(place, &new_driver, &run);
	about(recalled(place), 1.7);
	OK(os_write_atomic(why, path, "\0garbage", 8));
	assert_true(recalled(place) == 0);
	speed_remember(place, &new_driver, &run);
	about(recalled(place), 1.7);
	/* There is no state directory. */
	speed_remember(NULL, &new_driver, &run);
	assert_true(recalled(NULL) == 0);
}

RUN_TESTS(NULL, NULL)
