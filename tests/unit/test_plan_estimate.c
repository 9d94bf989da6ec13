/* Predicted costs of compiling, compared with the modules of real frameworks. */
#include "check.h"
#include <jitwarm/estimate.h>

#include <math.h>

#include "costs.h"

struct sums {
	double cubins, predicted_cubins;
	size_t short_of_memory;
};

static void add_row(struct sums *sums, const struct costs_row *row, bool line_info)
{
	struct plan_features features = row->features;
	struct plan_estimate estimate;

	features.line_info = line_info;
	plan_estimate(&estimate, &features, row->ptx_bytes, NULL);
	sums->short_of_memory += row->peak_bytes > estimate.memory_bytes;
	sums->cubins += (double)row->cubin_bytes;
	sums->predicted_cubins += (double)estimate.cubin_bytes;
}

/* Time: test_plan_fit.c. */
TEST(real_frameworks_take_the_room_that_is_predicted)
{
	static struct costs_row rows[COSTS_MOST];
	char *folder = costs_folder();

	if (!os_exists(folder)) {
		mem_free(folder);
		skip();
	}
	for (size_t i = 0; i < COSTS_LIBRARIES; i++) {
		struct sums sums = {0};
		size_t count = costs_read(folder, costs_libraries[i].name, rows);

		assert_int_equal(count, costs_libraries[i].modules);
		for (size_t k = 0; k < count; k++)
			add_row(&sums, &rows[k], costs_libraries[i].line_info);
		assert_true(fabs(sums.predicted_cubins / sums.cubins - 1) < 0.15);
		assert_int_equal(sums.short_of_memory, 0);
	}
	mem_free(folder);
}

TEST(a_machine_may_be_slower)
{
	struct plan_features features = {1000, 10, 2, false};
	struct plan_estimate one, two, lines;

	plan_estimate(&one, &features, 50000, NULL);
	plan_estimate(&two, &features, 50000, &(struct jw_speed){.factor = 2.5, .module_ms = 7});
	assert_true(fabs(two.cost_ms - 7 - 2.5 * one.cost_ms) < 1e-6);
	assert_int_equal(one.cubin_bytes, two.cubin_bytes);
	/* The key of an entry contains the whole PTX. */
	assert_true(one.entry_bytes > one.cubin_bytes + 50000);
	assert_true(one.entry_bytes < one.cubin_bytes + 50100);
	features.line_info = true;
	plan_estimate(&lines, &features, 50000, NULL);
	assert_int_equal(lines.cubin_bytes, one.cubin_bytes + 40 * 1000);
	assert_int_equal(lines.entry_bytes, one.entry_bytes + 40 * 1000);
	assert_int_equal(lines.memory_bytes, one.memory_bytes);
	assert_true(fabs(lines.cost_ms - one.cost_ms) < 1e-6);
	assert_true(fabs(jw_makespan_seconds(100, 10, 4) - 25) < 1e-9);
	assert_true(fabs(jw_makespan_seconds(100, 60, 4) - 60) < 1e-9);
	assert_true(fabs(jw_makespan_seconds(100, 60, 0) - 100) < 1e-9);
}

/* XGBoost 1.0.2 on an H200, 8 cores with 16 threads (docs/estimates.md): seconds by workers. */
TEST(threads_of_one_core_count_less_than_cores)
{
	static const struct {
		unsigned workers, threads, cores;
		double capacity;
	} cases[] = {
		{.workers = 1, .threads = 16, .cores = 8, .capacity = 1},
		{.workers = 8, .threads = 16, .cores = 8, .capacity = 8},
		{.workers = 9, .threads = 16, .cores = 8, .capacity = 8.15},
		{.workers = 16, .threads = 16, .cores = 8, .capacity = 9.2},
		{.workers = 64, .threads = 16, .cores = 8, .capacity = 9.2},
		{.workers = 4, .threads = 16, .cores = 16, .capacity = 4},
		{.workers = 4, .threads = 2, .cores = 2, .capacity = 2},
		{.workers = 4, .threads = 2, .cores = 1, .capacity = 1.15},
		{.threads = 2, .cores = 1, .capacity = 1},
		{.workers = 3, .threads = 4, .capacity = 3},
	};
	static const struct {
		unsigned workers;
		double seconds;
	} measured[] = {{1, 64.7}, {2, 35.8}, {4, 18.8}, {8, 12.5}, {16, 9.1}};
	enum { MEASURED = sizeof measured / sizeof *measured };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double capacity = plan_capacity(cases[i].workers, cases[i].threads, cases[i].cores);

		if (fabs(capacity - cases[i].capacity) > 1e-9)
			fail_msg("case %zu: %g, not %g", i, capacity, cases[i].capacity);
	}
	/* The start (2 to 3 s) is not included. */
	for (size_t i = 0; i < MEASURED; i++) {
		double off = 62 / plan_capacity(measured[i].workers, 16, 8) / measured[i].seconds - 1;

		if (off > 0.05 || off < -0.4)
			fail_msg("%u workers: off by %+.0f %%", measured[i].workers, 100 * off);
	}
	assert_true(jw_workers_capacity(1) == 1);
}

RUN_TESTS(NULL, NULL)
