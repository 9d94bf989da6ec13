/* The modules that measure the driver's compiler: what they are, and how many of them run. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "code/devcode.h"
#include "code/ptx.h"
#include "driver/speed_gauge.h"
#include "folder.h"
#include "os/file.h"

static struct speed_gauge make(char **ret_path)
{
	struct speed_gauge gauge;

	*ret_path = os_join(folder, "gauge.fatbin");
	OK(speed_gauge_make(why, *ret_path, 3, &gauge));
	return gauge;
}

/* The number of jobs sent if each answer reports these times. */
static unsigned jobs_at(double wall_ms, double cpu_ms, struct speed_time *ret_large)
{
	const struct protocol_answer warmed = {.wall_ms = 5000},
								 answer = {.wall_ms = wall_ms, .cpu_ms = cpu_ms};
	char *path;
	struct speed_gauge gauge = make(&path);
	const struct protocol_job *job = speed_gauge_next(&gauge, &warmed);
	uint64_t end = 0;
	unsigned jobs = 0;

	for (; job; job = speed_gauge_next(&gauge, &answer)) {
		assert_int_equal(job->device, 3);
		assert_int_equal(job->form, CACHE_KEY_LOAD);
		assert_string_equal(job->path, path);
		assert_int_equal(job->offset, end);
		end += job->size_bytes;
		jobs++;
		assert_true(jobs <= GAUGE_MODULES);
	}
	*ret_large = gauge.taken.large;
	mem_free(path);
	return jobs;
}

TEST(it_takes_a_third_of_a_second_at_most)
{
	struct speed_time taken;
	double model;

	assert_int_equal(jobs_at(30, 30, &taken), GAUGE_MODULES);
	assert_int_equal(taken.modules, GAUGE_MODULES / 2);
	assert_true(taken.model_ms > 0 && taken.cpu_ms == GAUGE_MODULES / 2 * 30.0);
	model = taken.model_ms / taken.modules;
	assert_int_equal(jobs_at(90, 60, &taken), 3);
	assert_true(taken.cpu_ms == 120 && taken.wall_ms == 180);
	assert_true(taken.model_ms > 1.99 * model && taken.model_ms < 2.01 * model);
	/* One is always compiled. */
	assert_int_equal(jobs_at(10 * model, 10 * model, &taken), 1);
	assert_true(taken.cpu_ms > 0);
	assert_int_equal(jobs_at(100000, 100000, &taken), 1);
	assert_true(taken.cpu_ms == 0);
}

TEST(a_refusal_ends_it)
{
	const struct protocol_answer fine = {.wall_ms = 20, .cpu_ms = 20}, refused = {.result = 218},
								 lost = {.result = 700, .sticky = true};
	char *path;
	struct speed_gauge gauge = make(&path);

	assert_null(speed_gauge_next(&gauge, &refused));
	assert_non_null(speed_gauge_next(&gauge, &fine));
	assert_non_null(speed_gauge_next(&gauge, &fine));
	assert_null(speed_gauge_next(&gauge, &lost));
	assert_true(gauge.taken.large.cpu_ms == 20);
	mem_free(path);
}

/* They resemble the modules to which the model was fitted: short kernels and kernels of medium
 * length; and each has its own cache entry. */
TEST(its_modules_are_like_those_of_libraries)
{
	char *path;
	struct speed_gauge gauge = make(&path);
	struct buf file = {0};

	assert_in_range(gauge.modules[0].features.statements, 500, 1500);
	assert_in_range(gauge.modules[1].features.statements, 50, 150);
	assert_int_equal(gauge.modules[1].features.entries, 1);
	OK(os_read_file(why, path, 1 << 20, &file));
	assert_int_equal(file.size, gauge.ends[GAUGE_MODULES]);
	for (unsigned i = 2; i < GAUGE_MODULES; i++) {
		const uint64_t size = gauge.ends[i + 1] - gauge.ends[i];

		assert_int_equal(size, gauge.ends[i - 1] - gauge.ends[i - 2]);
		assert_true(memcmp(file.data + gauge.ends[i - 2], file.data + gauge.ends[i], size) != 0);
	}
	buf_free(&file);
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
