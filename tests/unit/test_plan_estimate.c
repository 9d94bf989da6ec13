/* What a compile will take, against what the modules of real frameworks took. */
#include "check.h"
#include <jitwarm/estimate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/system.h"
#include "plan/estimate.h"

struct sums {
	double real_ms, cost_ms, cubins, predicted_cubins;
	size_t rows, short_of_memory;
};

static void add_row(struct sums *sums, const char *row)
{
	unsigned long long value[7] = {0};
	struct plan_features features;
	struct plan_estimate estimate;

	for (size_t i = 0; i < 7; i++) {
		char *end;

		value[i] = strtoull(row, &end, 10);
		row = *end == ',' ? end + 1 : end;
	}
	features = (struct plan_features){(uint32_t)value[1], (uint32_t)value[2], (uint32_t)value[3]};
	plan_estimate(&estimate, &features, value[0], 1);
	sums->rows++;
	sums->cost_ms += estimate.cost_ms;
	sums->real_ms += (double)value[4];
	sums->short_of_memory += value[5] * 1024 > estimate.memory_bytes;
	sums->cubins += (double)value[6];
	sums->predicted_cubins += (double)estimate.cubin_bytes;
}

static struct sums read_costs(const char *folder, const char *name)
{
	char *path = mem_printf(NULL, "%s/compile-costs/%s.csv", folder, name);
	struct sums sums = {0};
	struct buf file;

	assert_int_equal(os_read_file(NULL, path, 1 << 24, &file), 0);
	for (const char *at = strchr(buf_text(&file), '\n'); at && at[1]; at = strchr(at + 1, '\n'))
		add_row(&sums, at + 1);
	buf_free(&file);
	mem_free(path);
	return sums;
}

static char *test_data(void)
{
	char *folder = os_env("JITWARM_TESTDATA");

	return folder ? folder : mem_string(NULL, "../shared/testdata");
}

static void real_frameworks_cost_about_what_is_said(void **state)
{
	static const struct {
		const char *name;
		size_t modules;
	} cases[] = {
		{"tensorflow-2.3.1-windows-sm86", 238},
		{"tensorflow-2.10.0-windows-sm86", 1885},
		{"xgboost-1.7.6-sm90", 41},
		{"ctranslate2-4.6.2-sm90", 24},
	};
	char *folder = test_data();

	(void)state;
	if (!os_exists(folder)) {
		mem_free(folder);
		skip();
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sums sums = read_costs(folder, cases[i].name);

		assert_int_equal(sums.rows, cases[i].modules);
		assert_true(fabs(sums.cost_ms / sums.real_ms - 1) < 0.18);
		assert_true(fabs(sums.predicted_cubins / sums.cubins - 1) < 0.31);
		assert_int_equal(sums.short_of_memory, 0);
	}
	mem_free(folder);
}

static void a_machine_may_be_slower(void **state)
{
	struct plan_features features = {1000, 10, 2};
	struct plan_estimate one, two;

	(void)state;
	plan_estimate(&one, &features, 50000, 0);
	plan_estimate(&two, &features, 50000, 2.5);
	assert_true(fabs(two.cost_ms - 2.5 * one.cost_ms) < 1e-6);
	assert_int_equal(one.cubin_bytes, two.cubin_bytes);
	assert_true(fabs(jw_makespan_seconds(100, 10, 4) - 25) < 1e-9);
	assert_true(fabs(jw_makespan_seconds(100, 60, 4) - 60) < 1e-9);
	assert_true(fabs(jw_makespan_seconds(100, 60, 0) - 100) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_frameworks_cost_about_what_is_said),
		cmocka_unit_test(a_machine_may_be_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
