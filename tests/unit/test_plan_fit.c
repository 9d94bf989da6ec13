/* The cost model of compiling: fitted again to measurements of real libraries (docs/estimates.md),
 * each library held out in turn. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "costs.h"

enum { FACTORS = 3 };
static const double MOST_OFF = 0.20;

struct library {
	struct costs_row rows[COSTS_MOST];
	size_t count;
};

static struct library libraries[COSTS_LIBRARIES];

/* The factors that are compiled in. */
struct model {
	double start_ms, factor[FACTORS];
};

static double cost_of(uint32_t statements, uint32_t branches, uint32_t entries)
{
	const struct plan_features features = {statements, branches, entries, false};
	struct plan_estimate estimate;

	plan_estimate(&estimate, &features, 0, 1);
	return estimate.cost_ms;
}

static struct model compiled_in(void)
{
	double start = cost_of(0, 0, 0);

	return (struct model){start,
						  {(cost_of(1000000, 0, 0) - start) / 1e6,
						   (cost_of(0, 1000000, 0) - start) / 1e6,
						   (cost_of(0, 0, 1000000) - start) / 1e6}};
}

static double feature(const struct costs_row *row, size_t at)
{
	return at == 0   ? row->features.statements
		   : at == 1 ? row->features.branches
					 : row->features.entries;
}

static double predicted_ms(const struct model *model, const struct library *library)
{
	double sum = 0;

	for (size_t i = 0; i < library->count; i++) {
		sum += model->start_ms;
		for (size_t k = 0; k < FACTORS; k++)
			sum += model->factor[k] * feature(&library->rows[i], k);
	}
	return sum;
}

static double real_ms(const struct library *library)
{
	double sum = 0;

	for (size_t i = 0; i < library->count; i++)
		sum += library->rows[i].compile_ms;
	return sum;
}

struct equations {
	double left[FACTORS][FACTORS], right[FACTORS];
};

/* Least squares with each residual divided by the square root of the time. */
static void add_rows(struct equations *equations, const struct library *library, double start_ms)
{
	for (size_t i = 0; i < library->count; i++) {
		const struct costs_row *row = &library->rows[i];
		double weight = 1 / (row->compile_ms < 1 ? 1 : row->compile_ms);

		for (size_t a = 0; a < FACTORS; a++) {
			equations->right[a] += weight * feature(row, a) * (row->compile_ms - start_ms);
			for (size_t b = 0; b < FACTORS; b++)
				equations->left[a][b] += weight * feature(row, a) * feature(row, b);
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

/* COSTS_LIBRARIES: none is held out. */
static struct model fit_without(size_t held_out)
{
	struct model model = {.start_ms = cost_of(0, 0, 0)};
	struct equations equations = {0};

	for (size_t i = 0; i < COSTS_LIBRARIES; i++)
		if (i != held_out)
			add_rows(&equations, &libraries[i], model.start_ms);
	solve(&equations, model.factor);
	return model;
}

static void the_compiled_in_factors_are_the_fit(void **state)
{
	struct model fitted = fit_without(COSTS_LIBRARIES), program = compiled_in();

	(void)state;
	for (size_t i = 0; i < FACTORS; i++)
		if (fabs(program.factor[i] / fitted.factor[i] - 1) > 0.01)
			fail_msg("factor %zu is %g, the fit says %g (scripts/fit-costs.py)", i,
					 program.factor[i], fitted.factor[i]);
}

static void a_library_that_was_never_seen_is_predicted(void **state)
{
	(void)state;
	for (size_t i = 0; i < COSTS_LIBRARIES; i++) {
		struct model model = fit_without(i);
		double off = predicted_ms(&model, &libraries[i]) / real_ms(&libraries[i]) - 1;

		print_message("%s: held out, its total is off by %+.1f %%\n", costs_libraries[i].name,
					  100 * off);
		if (!(fabs(off) <= MOST_OFF))
			fail_msg("more than %.0f %%", 100 * MOST_OFF);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_compiled_in_factors_are_the_fit),
		cmocka_unit_test(a_library_that_was_never_seen_is_predicted),
	};
	char *folder = costs_folder();

	if (!os_exists(folder)) {
		(void)printf("skipped: no test data in %s (JITWARM_TESTDATA)\n", folder);
		mem_free(folder);
		return CHECK_SKIP;
	}
	for (size_t i = 0; i < COSTS_LIBRARIES; i++)
		libraries[i].count = costs_read(folder, costs_libraries[i].name, libraries[i].rows);
	mem_free(folder);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
