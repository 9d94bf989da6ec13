/* The cost model of compiling: fitted again to measurements of real libraries on two machines
 * (docs/estimates.md, tests/data/compile-costs), each library held out in turn. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "os/file.h"
#include "plan/estimate.h"

enum { FACTORS = 4, MOST_ROWS = 2048, TURNS = 40 };
static const double PROCESS_MS = 8; /* the start of ptxas, which is not the driver's */
static const double MOST_OFF = 1.4;

struct row {
	double x[FACTORS], ms;
};

/* Versions of a library are one family: none is fitted to predict another. */
struct library {
	const char *file, *family;
	bool driver;
	struct row *rows;
	size_t count;
};

static struct library libraries[] = {
	{.file = "ptxas-tensorflow-2.3.1-windows-sm86", .family = "tensorflow 2.3"},
	{.file = "ptxas-tensorflow-2.10.0-windows-sm86", .family = "tensorflow 2.10"},
	{.file = "ptxas-xgboost-1.7.6-sm90", .family = "xgboost"},
	{.file = "ptxas-ctranslate2-4.6.2-sm90", .family = "ctranslate2"},
	{.file = "driver-ctranslate2-2.24.0-sm90", .family = "ctranslate2", .driver = true},
	{.file = "driver-ctranslate2-3.24.0-sm90", .family = "ctranslate2", .driver = true},
	{.file = "driver-ctranslate2-4.6.2-sm90", .family = "ctranslate2", .driver = true},
	{.file = "driver-cupy-12.3.0-random-sm90", .family = "cupy", .driver = true},
	{.file = "driver-curand-10.2.10-sm90", .family = "curand", .driver = true},
	{.file = "driver-dgl-0.6.1-sm90", .family = "dgl", .driver = true},
	{.file = "driver-implicit-0.6.2-sm90", .family = "implicit", .driver = true},
	{.file = "driver-spconv-2.1.25-sm90", .family = "spconv", .driver = true},
	{.file = "driver-tensorflow-2.18.0-sm90", .family = "tensorflow 2.18", .driver = true},
	{.file = "driver-warp-lang-0.10.1-sm90", .family = "warp", .driver = true},
	{.file = "driver-xgboost-1.0.2-sm86", .family = "xgboost", .driver = true},
	{.file = "driver-xgboost-1.7.6-sm90", .family = "xgboost", .driver = true},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

struct model {
	double factor[FACTORS];
	double slower; /* ratio of the driver's machine to that of ptxas */
};

static double cost_of(uint32_t statements, uint32_t divisions, uint32_t entries)
{
	const struct plan_features features = {statements, divisions, entries, false};
	struct plan_estimate estimate;

	plan_estimate(&estimate, &features, 0, NULL);
	return estimate.cost_ms;
}

/* In the order of a row's features: the start, an entry, a division, a statement in a kernel of a
 * thousand. */
static struct model compiled_in(void)
{
	const double start = cost_of(0, 0, 0);

	return (struct model){.factor = {start, cost_of(0, 0, 1) - start, cost_of(0, 1, 0) - start,
									 (cost_of(1000, 0, 1) - cost_of(0, 0, 1)) / 1000}};
}

/* "form,ptx_bytes,statements,divisions,entries,ms,cubin_bytes" */
static bool read_row(const char *text, bool driver, struct row *ret_row)
{
	const struct model program = compiled_in();
	double value[6];
	uint32_t statements, entries;

	if (strncmp(text, "load,", 5) != 0)
		return false;
	text += 5;
	for (size_t i = 0; i < 6; i++) {
		char *end;

		value[i] = strtod(text, &end);
		text = *end == ',' ? end + 1 : end;
	}
	statements = (uint32_t)value[1];
	entries = (uint32_t)value[3];
	/* For a long kernel the factor comes from the program's own rule. */
	*ret_row = (struct row){
		{driver, value[3], value[2],
		 (cost_of(statements, 0, entries) - cost_of(0, 0, entries)) / program.factor[3]},
		value[4] - (driver ? 0 : PROCESS_MS)};
	return true;
}

static void read_library(struct library *library)
{
	char *path =
		mem_printf(NULL, JITWARM_SOURCE_DIR "/tests/data/compile-costs/%s.csv", library->file);
	struct buf file = {0};

	assert_int_equal(os_read_file(NULL, path, 1 << 24, &file), 0);
	library->rows = mem_array(NULL, MOST_ROWS, sizeof *library->rows);
	for (const char *at = strchr(buf_text(&file), '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
		assert_true(library->count < MOST_ROWS);
		library->count += read_row(at + 1, library->driver, &library->rows[library->count]);
	}
	assert_true(library->count > 0);
	buf_free(&file);
	mem_free(path);
}

static double real_ms(const struct library *library)
{
	double sum = 0;

	for (size_t i = 0; i < library->count; i++)
		sum += library->rows[i].ms > 0 ? library->rows[i].ms : 0;
	return sum;
}

/* The ratio of the totals. The start of ptxas is known and does not count. */
static double ratio(const struct model *model, const struct library *library)
{
	double sum = 0;

	for (size_t i = 0; i < library->count; i++)
		for (size_t k = 0; k < FACTORS; k++)
			sum += model->factor[k] * library->rows[i].x[k];
	return sum * (library->driver ? model->slower : 1) / real_ms(library);
}

struct equations {
	double left[FACTORS][FACTORS], right[FACTORS];
};

/* Each residual is divided by the square root of the time, and each library has the same weight. */
static void add_rows(struct equations *equations, const struct library *library, double slower)
{
	const double scale = library->driver ? slower : 1, whole = real_ms(library) / scale;

	for (size_t i = 0; i < library->count; i++) {
		const struct row *row = &library->rows[i];
		const double process = library->driver ? 0 : PROCESS_MS;
		const double ms = row->ms > 0 ? row->ms / scale : 0, alone = row->ms / scale + process;
		const double weight = 1 / (alone < 1 ? 1 : alone) / whole;

		for (size_t a = 0; a < FACTORS; a++) {
			equations->right[a] += weight * row->x[a] * ms;
			for (size_t b = 0; b < FACTORS; b++)
				equations->left[a][b] += weight * row->x[a] * row->x[b];
		}
	}
}

/* Symmetric and positive definite: no pivots are needed. */
static void solve(struct equations *equations, double factor[FACTORS])
{
	for (size_t i = 0; i < FACTORS; i++) {
		assert_true(equations->left[i][i] > 0);
		for (size_t k = 0; k < FACTORS; k++) {
			double times = equations->left[k][i] / equations->left[i][i];

			if (k == i)
				continue;
			for (size_t j = 0; j < FACTORS; j++)
				equations->left[k][j] -= times * equations->left[i][j];
			equations->right[k] -= times * equations->right[i];
		}
	}
	for (size_t i = 0; i < FACTORS; i++)
		factor[i] = equations->right[i] / equations->left[i][i];
}

static void fit_without(const char *family, struct model *model)
{
	struct equations equations = {0};

	for (size_t i = 0; i < LIBRARIES; i++)
		if (!family || strcmp(libraries[i].family, family) != 0)
			add_rows(&equations, &libraries[i], model->slower);
	solve(&equations, model->factor);
}

/* Includes how much slower the driver's machine is, so that both totals are right on average */
static struct model fit_all(void)
{
	struct model model = {.slower = 3};

	for (int turn = 0; turn < TURNS; turn++) {
		double logs[2] = {0}, counts[2] = {0};

		fit_without(NULL, &model);
		for (size_t i = 0; i < LIBRARIES; i++) {
			logs[libraries[i].driver] -= log(ratio(&model, &libraries[i]));
			counts[libraries[i].driver]++;
		}
		model.slower *= exp(logs[1] / counts[1] - logs[0] / counts[0]);
	}
	return model;
}

TEST(the_compiled_in_factors_are_the_fit)
{
	const struct model fitted = fit_all(), program = compiled_in();

	for (size_t i = 0; i < FACTORS; i++)
		if (!(fabs(program.factor[i] / fitted.factor[i] - 1) < 0.03))
			fail_msg("factor %zu is %g, the fit says %g (scripts/fit-costs.py)", i,
					 program.factor[i], fitted.factor[i]);
}

TEST(a_library_that_was_never_seen_is_predicted)
{
	struct model model = fit_all();
	size_t off = 0;

	for (size_t i = 0; i < LIBRARIES; i++) {
		double found;

		fit_without(libraries[i].family, &model);
		found = ratio(&model, &libraries[i]);
		print_message("%s: held out, its total is predicted × %.2f\n", libraries[i].file, found);
		off += !(found < MOST_OFF && found > 1 / MOST_OFF);
	}
	if (off * 10 > LIBRARIES)
		fail_msg("%zu of %d are off by more than a factor of %g", off, LIBRARIES, MOST_OFF);
}

TEST_PROGRAM
{
	int result;

	for (size_t i = 0; i < LIBRARIES; i++)
		read_library(&libraries[i]);
	result = RUN_GROUP(NULL, NULL);
	for (size_t i = 0; i < LIBRARIES; i++)
		mem_free(libraries[i].rows);
	return result;
}
