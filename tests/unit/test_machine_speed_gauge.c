/* The modules that measure the driver's compiler: what they are, and how many of them run. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "devcode/devcode.h"
#include "devcode/ptx.h"
#include "folder.h"
#include "machine/speed_gauge.h"
#include "os/file.h"

static struct speed_gauge make(char **ret_path)
{
	struct speed_gauge gauge;
	struct jw_error err = {0};

	*ret_path = os_join(NULL, folder, "gauge.fatbin");
	if (speed_gauge_make(&err, *ret_path, 3, &gauge))
		fail_msg("%s", err.message);
	return gauge;
}

/* The number of jobs sent if each answer reports these times. */
static unsigned jobs_at(double wall_ms, double cpu_ms, struct speed_time *ret_taken)
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
	*ret_taken = gauge.taken.load;
	mem_free(path);
	return jobs;
}

static void it_takes_a_third_of_a_second_at_most(void **state)
{
	struct speed_time taken;
	double model;

	(void)state;
	assert_int_equal(jobs_at(30, 30, &taken), GAUGE_MODULES);
	assert_true(taken.model_ms > 0 && taken.cpu_ms == GAUGE_MODULES * 30.0);
	model = taken.model_ms / GAUGE_MODULES;
	assert_int_equal(jobs_at(90, 60, &taken), 3);
	assert_true(taken.cpu_ms == 180 && taken.wall_ms == 270);
	assert_true(taken.model_ms > 2.99 * model && taken.model_ms < 3.01 * model);
	/* One is always compiled. */
	assert_int_equal(jobs_at(10 * model, 10 * model, &taken), 1);
	assert_true(taken.cpu_ms > 0);
	assert_int_equal(jobs_at(100000, 100000, &taken), 1);
	assert_true(taken.cpu_ms == 0);
}

static void a_refusal_ends_it(void **state)
{
	const struct protocol_answer fine = {.wall_ms = 20, .cpu_ms = 20}, refused = {.result = 218},
								 lost = {.result = 700, .sticky = true};
	char *path;
	struct speed_gauge gauge = make(&path);

	(void)state;
	assert_null(speed_gauge_next(&gauge, &refused));
	assert_non_null(speed_gauge_next(&gauge, &fine));
	assert_non_null(speed_gauge_next(&gauge, &fine));
	assert_null(speed_gauge_next(&gauge, &lost));
	assert_true(gauge.taken.load.cpu_ms == 20);
	mem_free(path);
}

/* They resemble the modules to which the model was fitted: kernels of medium length; and each has
 * its own cache entry. */
static void its_modules_are_like_those_of_libraries(void **state)
{
	char *path;
	struct speed_gauge gauge = make(&path);
	struct buf file = {0};

	(void)state;
	assert_in_range(gauge.module.features.statements, 500, 1500);
	assert_int_equal(gauge.module.features.entries, 1);
	assert_int_equal(os_read_file(NULL, path, 1 << 20, &file), 0);
	assert_int_equal(file.size, gauge.ends[GAUGE_MODULES]);
	for (unsigned i = 1; i < GAUGE_MODULES; i++) {
		assert_int_equal(gauge.ends[i + 1] - gauge.ends[i], gauge.ends[1]);
		assert_true(memcmp(file.data, file.data + gauge.ends[i], gauge.ends[1]) != 0);
	}
	buf_free(&file);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_takes_a_third_of_a_second_at_most),
		cmocka_unit_test(a_refusal_ends_it),
		cmocka_unit_test(its_modules_are_like_those_of_libraries),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
