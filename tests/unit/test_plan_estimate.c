/* Predicted times and sizes of compiling stay near those measured on real frameworks. */
#include "check.h"
#include <jitwarm/estimate.h>

#include <math.h>
#include <string.h>

#include "costs.h"

/* The model's time and cubin sizes for each library, as fractions of the measured ones; other
 * factors would change them. scripts/fit-costs.py fits the factors, and predicts each library from
 * the others; the driver's machine was three times as slow as that of ptxas. */
TEST(real_libraries_cost_what_the_model_says)
{
	static const struct {
		const char *name;
		double time, room;
	} libraries[] = {
		{"driver-ctranslate2-2.24.0-sm90", 0.299, 1.055},
		{"driver-ctranslate2-3.24.0-sm90", 0.272, 1.118},
		{"driver-ctranslate2-4.6.2-sm90", 0.285, 1.099},
		{"driver-cupy-12.3.0-random-sm90", 0.228, 0.851},
		{"driver-curand-10.2.10-sm90", 0.262, 0.980},
		{"driver-dgl-0.6.1-sm90", 0.210, 0.806},
		{"driver-implicit-0.6.2-sm90", 0.214, 0.779},
		{"driver-spconv-2.1.25-sm90", 0.256, 1.252},
		{"driver-tensorflow-2.18.0-sm90", 0.243, 1.194},
		{"driver-warp-lang-0.10.1-sm90", 0.213, 1.108},
		{"driver-xgboost-1.0.2-sm86", 0.367, 1.023},
		{"driver-xgboost-1.7.6-sm90", 0.212, 0.987},
		{"ptxas-ctranslate2-4.6.2-sm90", 0.797, 1.091},
		{"ptxas-tensorflow-2.10.0-windows-sm86", 0.475, 1.115},
		{"ptxas-tensorflow-2.3.1-windows-sm86", 1.103, 0.860},
		{"ptxas-xgboost-1.7.6-sm90", 0.829, 0.984},
	};
	static struct costs_row rows[COSTS_MAX];

	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		const size_t count = costs_read(libraries[i].name, rows);
		double ms = 0, bytes = 0, real_ms = 0, real_bytes = 0;

		for (size_t k = 0; k < count; k++) {
			struct plan_estimate estimate;

			rows[k].features.line_info = strstr(libraries[i].name, "-xgboost-") != NULL;
			plan_estimate(&estimate, &rows[k].features, (uint64_t)rows[k].ptx_bytes, NULL);
			ms += estimate.cost_ms;
			bytes += (double)estimate.cubin_bytes;
			real_ms += rows[k].ms;
			real_bytes += rows[k].cubin_bytes;
		}
		if (!(fabs(ms / real_ms - libraries[i].time) < 0.002) ||
			!(fabs(bytes / real_bytes - libraries[i].room) < 0.002))
			fail_msg("%s: %.3f of the time, %.3f of the room", libraries[i].name, ms / real_ms,
					 bytes / real_bytes);
	}
}

/* The predicted memory is at least the most that ptxas took for one module of each library. */
TEST(memory_is_enough_for_real_libraries)
{
	static const struct {
		uint32_t statements;
		uint64_t peak_kib;
	} measured[] = {{156, 49164}, {57815, 451092}, {303057, 698032}};

	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
		const struct plan_features features = {measured[i].statements, 0, 1, false, false};
		struct plan_estimate estimate;

		plan_estimate(&estimate, &features, 0, NULL);
		assert_in_range(estimate.memory_bytes, measured[i].peak_kib << 10, UINT32_MAX);
	}
}

TEST(a_machine_may_be_slower)
{
	struct plan_features features = {1000, 10, 2, false, false};
	struct plan_estimate one, two, lines;

	plan_estimate(&one, &features, 50000, NULL);
	plan_estimate(&two, &features, 50000, &(struct jw_speed){.factor = 2.5});
	assert_true(fabs(two.cost_ms - 2.5 * one.cost_ms) < 1e-6);
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
	assert_true(fabs(jw_makespan(100, 10, 4) - 25) < 1e-9);
	assert_true(fabs(jw_makespan(100, 60, 4) - 60) < 1e-9);
	assert_true(fabs(jw_makespan(100, 60, 0) - 100) < 1e-9);
}

/* XGBoost 1.0.2 on an H200 and 8 cores with 16 threads (docs/internals/estimates.md): seconds for
 * each number of workers. */
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
