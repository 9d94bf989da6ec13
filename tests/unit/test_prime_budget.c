/* What a run may take, and which modules it then takes. */
#include "check.h"

#include <string.h>

#include "prime/budget.h"

enum { MODULES = 6 };

/* Dearest first, as a plan has them. In the cache the third is the cheapest for what it saves. */
static void fill(struct plan_module modules[MODULES])
{
	static const struct plan_module all[MODULES] = {
		{.cost_ms = 9000, .entry_bytes = 9000, .loose = true},
		{.cost_ms = 5000, .entry_bytes = 5000},
		{.cost_ms = 4000, .entry_bytes = 1000},
		{.cost_ms = 3000, .entry_bytes = 3000},
		{.cost_ms = 500, .entry_bytes = 1000},
		{.cost_ms = 100, .entry_bytes = 700, .state = PLAN_WARM},
	};

	memcpy(modules, all, sizeof all);
}

static void the_most_valuable_are_taken(void **state)
{
	static const struct {
		uint64_t limit_bytes, budget_bytes, budget_ms;
		double workers;
		const char *taken; /* of the cold ones */
	} cases[] = {
		{100000, 0, 0, 1, "yyyyy"},
		/* By bytes of cache: the third, then those of one second for a kilobyte. */
		{100000, 1700, 0, 1, "nnynn"},
		{100000, 6700, 0, 1, "nyynn"},
		{100000, 7700, 0, 1, "nyyny"},
		{100000, 10700, 0, 1, "nyyyy"},
		{100000, 19700, 0, 1, "yyyyy"},
		{100000, 19699, 0, 1, "nyyyy"},
		{100000, 500, 0, 1, "nnnnn"},
		/* A budget beyond the limit is the limit. */
		{6700, 50000, 0, 1, "nyynn"},
		/* By time: the dearest that fit, and only then what may not be needed. */
		{100000, 0, 5000, 1, "nynnn"},
		{100000, 0, 5600, 1, "nynny"},
		{100000, 0, 4900, 1, "nnyny"},
		{100000, 0, 9000, 1, "nyynn"},
		{100000, 0, 21500, 1, "yyyyy"},
		{100000, 0, 5000, 2, "nyyny"},
		{100000, 0, 8999, 4, "nyyyy"},
		{100000, 0, 1, 4, "nnnnn"},
		/* Both. */
		{100000, 7700, 5000, 1, "nnyny"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct plan_module modules[MODULES];
		struct plan plan = {.modules = modules, .module_count = MODULES};
		const struct budget_request request = {cases[i].limit_bytes, cases[i].budget_bytes,
											   cases[i].budget_ms, cases[i].workers};
		struct jw_prime_plan sum = {.modules = 0};
		char taken[MODULES] = "";
		size_t left = 0;

		fill(modules);
		assert_int_equal(budget_choose(NULL, &plan, &request, &sum), 0);
		for (size_t k = 0; k + 1 < MODULES; k++) {
			taken[k] = modules[k].state == PLAN_COLD ? 'y' : 'n';
			left += modules[k].state == PLAN_OVER_BUDGET;
		}
		if (strcmp(taken, cases[i].taken) != 0)
			fail_msg("case %zu: %s, not %s", i, taken, cases[i].taken);
		assert_int_equal(sum.over_budget, left);
		assert_int_equal(sum.warm_bytes, 700);
		assert_int_equal(sum.limit_bytes, cases[i].limit_bytes);
		assert_int_equal(modules[MODULES - 1].state, PLAN_WARM);
	}
}

static void what_is_left_is_summed_up(void **state)
{
	struct plan_module modules[MODULES];
	struct plan plan = {.modules = modules, .module_count = MODULES};
	const struct budget_request request = {100000, 10700, 0, 1};
	struct jw_prime_plan sum = {.modules = 0};

	(void)state;
	fill(modules);
	assert_int_equal(budget_choose(NULL, &plan, &request, &sum), 0);
	assert_int_equal(sum.over_budget, 1);
	assert_int_equal(sum.over_budget_bytes, 9000);
	assert_true(sum.over_budget_seconds > 8.9 && sum.over_budget_seconds < 9.1);
}

static void more_than_the_cache_keeps_is_refused(void **state)
{
	const uint64_t gib = UINT64_C(1) << 30, mb = 1000000;
	const struct {
		uint64_t limit_bytes, warm_bytes, cache_bytes;
		const char *says[2]; /* NULL: it fits */
	} cases[] = {
		{gib, 0, gib, {NULL, NULL}},
		{gib, 200 * mb, 800 * mb, {NULL, NULL}},
		{gib, 0, gib + 1, {"CUDA_CACHE_MAXSIZE=2147483648", "--budget-size 1024M"}},
		{gib, 800 * mb, 800 * mb, {"about 1.60 GB", "CUDA_CACHE_MAXSIZE=3221225472"}},
		{gib, 0, 4 * gib, {"CUDA_CACHE_MAXSIZE=4294967296", "here and for the program"}},
		{100000, 0, 200000, {"CUDA_CACHE_MAXSIZE=1073741824", "--budget-size 100000"}},
		{4 * gib, 0, 5 * gib, {"no driver keeps more than 4.29 GB", "--budget-size 4096M"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_prime_plan sum = {.cold = 1,
										  .limit_bytes = cases[i].limit_bytes,
										  .warm_bytes = cases[i].warm_bytes,
										  .cache_bytes = cases[i].cache_bytes};
		struct jw_error why = {0};

		assert_int_equal(budget_is_too_much(&sum, &why), cases[i].says[0] != NULL);
		assert_int_equal(why.code, cases[i].says[0] ? JW_ERR_UNSUPPORTED : JW_OK);
		for (size_t k = 0; cases[i].says[0] && k < 2; k++)
			if (!strstr(why.message, cases[i].says[k]))
				fail_msg("“%s” does not say “%s”", why.message, cases[i].says[k]);
		assert_null(strchr(why.message, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_valuable_are_taken),
		cmocka_unit_test(what_is_left_is_summed_up),
		cmocka_unit_test(more_than_the_cache_keeps_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
