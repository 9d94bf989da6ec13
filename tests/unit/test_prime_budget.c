/* A run's budgets select the most valuable modules, and a start is judged by the facts that decide.
 * */
#include "check.h"

#include <string.h>

#include "prime/budget.h"
#include "prime/start_verdict.h"

enum { MODULES = 6 };

/* The modules are in a plan's order, the most expensive first. The third takes the least cache for
 * the time that it saves. */
static void fill(struct plan_module modules[MODULES])
{
	static const struct plan_module all[MODULES] = {
		{.cost_ms = 9000, .entry_bytes = 9000, .on_demand = true},
		{.cost_ms = 5000, .entry_bytes = 5000},
		{.cost_ms = 4000, .entry_bytes = 1000},
		{.cost_ms = 3000, .entry_bytes = 3000},
		{.cost_ms = 500, .entry_bytes = 1000},
		{.cost_ms = 100, .entry_bytes = 700, .state = PLAN_WARM},
	};

	memcpy(modules, all, sizeof all);
}

TEST(the_most_valuable_are_taken)
{
	static const struct {
		uint64_t limit_bytes, budget_bytes, budget_ms;
		double workers;
		const char *taken; /* the selected ones of the cold modules */
		bool restored;     /* a module that is not cold comes from the store, and is not yet in the
							  cache */
	} cases[] = {
		{.limit_bytes = 100000, .workers = 1, .taken = "yyyyy"},
		/* By bytes of cache: the third, then those that save one second per kilobyte. */
		{.limit_bytes = 100000, .budget_bytes = 1700, .workers = 1, .taken = "nnynn"},
		{.limit_bytes = 100000, .budget_bytes = 6700, .workers = 1, .taken = "nyynn"},
		{.limit_bytes = 100000, .budget_bytes = 7700, .workers = 1, .taken = "nyyny"},
		{.limit_bytes = 100000, .budget_bytes = 10700, .workers = 1, .taken = "nyyyy"},
		{.limit_bytes = 100000, .budget_bytes = 19700, .workers = 1, .taken = "yyyyy"},
		{.limit_bytes = 100000, .budget_bytes = 19699, .workers = 1, .taken = "nyyyy"},
		{.limit_bytes = 100000, .budget_bytes = 500, .workers = 1, .taken = "nnnnn"},
		/* A budget beyond the limit counts as the limit. */
		{.limit_bytes = 6700, .budget_bytes = 50000, .workers = 1, .taken = "nyynn"},
		/* By time: the most expensive that fit, and only then modules that may not be needed. */
		{.limit_bytes = 100000, .budget_ms = 5000, .workers = 1, .taken = "nynnn"},
		{.limit_bytes = 100000, .budget_ms = 5600, .workers = 1, .taken = "nynny"},
		{.limit_bytes = 100000, .budget_ms = 4900, .workers = 1, .taken = "nnyny"},
		{.limit_bytes = 100000, .budget_ms = 9000, .workers = 1, .taken = "nyynn"},
		{.limit_bytes = 100000, .budget_ms = 21500, .workers = 1, .taken = "yyyyy"},
		{.limit_bytes = 100000, .budget_ms = 5000, .workers = 2, .taken = "nyyny"},
		{.limit_bytes = 100000, .budget_ms = 8999, .workers = 4, .taken = "nyyyy"},
		{.limit_bytes = 100000, .budget_ms = 1, .workers = 4, .taken = "nnnnn"},
		/* both budgets */
		{.limit_bytes = 100000,
		 .budget_bytes = 7700,
		 .budget_ms = 5000,
		 .workers = 1,
		 .taken = "nnyny"},
		/* Entries from the store take space, too. */
		{.limit_bytes = 100000,
		 .budget_bytes = 7699,
		 .workers = 1,
		 .taken = "nyynn",
		 .restored = true},
		{.limit_bytes = 100000,
		 .budget_bytes = 7700,
		 .workers = 1,
		 .taken = "nyyny",
		 .restored = true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct plan_module modules[MODULES];
		struct plan plan = {.modules = modules, .module_count = MODULES};
		const struct budget_request request = {cases[i].limit_bytes, cases[i].budget_bytes,
											   cases[i].budget_ms, cases[i].workers};
		struct jw_prime_plan sum = {.modules = 0};
		char taken[MODULES] = "";
		size_t left = 0;
		uint64_t left_bytes = 0;
		double left_ms = 0;

		fill(modules);
		modules[MODULES - 1].state = cases[i].restored ? PLAN_RESTORED : PLAN_WARM;
		budget_choose(&plan, &request, &sum);
		for (size_t k = 0; k + 1 < MODULES; k++) {
			taken[k] = modules[k].state == PLAN_COLD ? 'y' : 'n';
			left += modules[k].state == PLAN_OVER_BUDGET;
			if (taken[k] == 'n')
				left_bytes += modules[k].entry_bytes;
			left_ms += taken[k] == 'n' ? modules[k].cost_ms : 0;
		}
		if (strcmp(taken, cases[i].taken) != 0)
			fail_msg("case %zu: %s, not %s", i, taken, cases[i].taken);
		assert_int_equal(sum.over_budget, left);
		assert_int_equal(sum.over_budget_bytes, left_bytes);
		assert_int_equal((uint64_t)(1000 * sum.over_budget_seconds + 0.5), (uint64_t)left_ms);
		assert_int_equal(sum.warm_bytes, cases[i].restored ? 0 : 700);
		assert_int_equal(sum.limit_bytes, cases[i].limit_bytes);
		assert_int_equal(modules[MODULES - 1].state, cases[i].restored ? PLAN_RESTORED : PLAN_WARM);
	}
}

TEST(more_than_the_cache_keeps_is_refused)
{
	const uint64_t gib = UINT64_C(1) << 30, mb = 1000000;
	const struct {
		uint64_t limit_bytes, warm_bytes, cache_bytes, meant_bytes;
		uint64_t taken_bytes; /* on a file system of 1 GB */
		const char *says[2];  /* NULL: it fits */
	} cases[] = {
		{.limit_bytes = gib, .cache_bytes = gib, .says = {NULL, NULL}},
		{.limit_bytes = gib, .warm_bytes = 200 * mb, .cache_bytes = 800 * mb, .says = {NULL, NULL}},
		{.limit_bytes = gib,
		 .cache_bytes = gib + 1,
		 .says = {"CUDA_CACHE_MAXSIZE=1610612736", "--budget-size 1024M"}},
		{.limit_bytes = gib,
		 .warm_bytes = 800 * mb,
		 .cache_bytes = 800 * mb,
		 .says = {"1.49 GiB are needed", "CUDA_CACHE_MAXSIZE=1879048192"}},
		/* The message explains "3G" once more, unless that is too little. */
		{.limit_bytes = 3,
		 .meant_bytes = 3 * gib,
		 .cache_bytes = 100 * mb,
		 .says = {"CUDA_CACHE_MAXSIZE=3221225472", "--budget-size 3"}},
		{.limit_bytes = 3,
		 .meant_bytes = 50 * mb,
		 .cache_bytes = 100 * mb,
		 .says = {"CUDA_CACHE_MAXSIZE=1073741824", "--budget-size 3"}},
		{.limit_bytes = gib,
		 .taken_bytes = 900 * mb,
		 .cache_bytes = 100 * mb,
		 .says = {NULL, NULL}},
		{.limit_bytes = gib,
		 .taken_bytes = 900 * mb + 1,
		 .cache_bytes = 100 * mb,
		 .says = {"only 95.4 MiB are free at /cache, and 95.4 MiB are needed",
				  "--budget-size 47M"}},
		{.limit_bytes = gib,
		 .cache_bytes = 4 * gib,
		 .says = {"CUDA_CACHE_MAXSIZE=4294967296", "on both machines"}},
		{.limit_bytes = 100000,
		 .cache_bytes = 200000,
		 .says = {"CUDA_CACHE_MAXSIZE=1073741824", "--budget-size 100000"}},
		{.limit_bytes = 4 * gib,
		 .cache_bytes = 5 * gib,
		 .says = {"the limit of 4 GiB is too small, 5 GiB are needed, and no limit is larger",
				  "--budget-size 4096M"}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_prime_plan sum = {.cold = 1,
										  .limit_bytes = cases[i].limit_bytes,
										  .warm_bytes = cases[i].warm_bytes,
										  .forecast.cache_bytes = cases[i].cache_bytes};
		const struct jw_cache_info cache = {
			.path = (char[]){"/cache"},
			.meant_bytes = cases[i].meant_bytes,
			.free_bytes = cases[i].taken_bytes ? 1000 * mb - cases[i].taken_bytes : UINT64_MAX,
			.outlook.bytes = cases[i].warm_bytes};

		GIVES(cases[i].says[0] ? JW_ERR_LIMIT : JW_OK,
			  budget_is_too_much(&sum, &cache, false, why));
		if (cases[i].says[0] && !cases[i].taken_bytes && cases[i].limit_bytes < 4 * gib)
			assert_non_null(strstr(why->message, "run “jitwarm prime --tune”"));
		GIVES(cases[i].says[0] ? JW_ERR_LIMIT : JW_OK, budget_is_too_much(&sum, &cache, true, why));
		for (size_t k = 0; cases[i].says[0] && k < 2; k++)
			if (!strstr(why->message, cases[i].says[k]))
				fail_msg("“%s” does not say “%s”", why->message, cases[i].says[k]);
		assert_null(strchr(why->message, '\n'));
	}
}

/* Each row differs from another row in a deciding fact. Modules (of 100 bytes): w(arm), c(old),
 * l(eft out), o(ver the budget). */
TEST(a_start_is_judged_by_what_decides)
{
	static const struct {
		const char *modules;
		enum jw_verdict verdict;
		size_t files, images, troubles, fates;
		uint64_t limit_bytes;
		bool unknown, useless, forced, elsewhere, harmful;
		uint64_t free_bytes; /* 0: unknown */
	} cases[] = {
		{"", JW_VERDICT_NOTHING, 0, 0, 0, 0, 900, 0, 0, 0, 0, 0, 0},
		{"", JW_VERDICT_UNREAD, 0, 0, 1, 0, 900, 0, 0, 0, 0, 0, 0},
		{"", JW_VERDICT_UNREAD, 2, 0, 1, 0, 900, 0, 0, 0, 0, 0, 0},
		{"", JW_VERDICT_RUNS, 1, 0, 0, 0, 900, 0, 0, 0, 0, 0, 0},
		{"", JW_VERDICT_RUNS, 1, 1, 0, 0, 900, 0, 0, 0, 0, 1, 0},
		{"", JW_VERDICT_RUNS, 1, 1, 0, 0, 900, 0, 1, 0, 0, 0, 0},
		{"", JW_VERDICT_USELESS, 1, 1, 0, 0, 900, 0, 1, 1, 0, 0, 0},
		{"", JW_VERDICT_RUNS, 1, 0, 0, 0, 900, 0, 1, 1, 0, 0, 0},
		{"w", JW_VERDICT_USELESS, 1, 1, 0, 0, 900, 0, 1, 0, 0, 0, 0},
		{"l", JW_VERDICT_USELESS, 1, 1, 0, 0, 900, 0, 1, 0, 0, 0, 0},
		{"w", JW_VERDICT_WARM, 1, 1, 0, 0, 900, 0, 1, 1, 1, 0, 0},
		{"w", JW_VERDICT_WARM, 1, 1, 0, 0, 900, 1, 0, 0, 0, 0, 0},
		{"wc", JW_VERDICT_UNKNOWN, 1, 1, 0, 0, 900, 1, 0, 0, 0, 0, 0},
		{"wc", JW_VERDICT_UNKNOWN, 1, 1, 0, 0, 100, 1, 0, 0, 0, 0, 0},
		{"wc", JW_VERDICT_COLD, 1, 1, 0, 0, 200, 0, 0, 0, 0, 0, 0},
		{"wc", JW_VERDICT_NO_ROOM, 1, 1, 0, 0, 199, 0, 0, 0, 0, 0, 0},
		{"wco", JW_VERDICT_NO_ROOM, 1, 1, 0, 0, 299, 0, 0, 0, 0, 0, 0},
		{"wcl", JW_VERDICT_COLD, 1, 1, 0, 0, 200, 0, 0, 0, 0, 0, 0},
		{"wcl", JW_VERDICT_COLD, 1, 1, 0, 0, 900, 0, 0, 0, 0, 0, 100},
		{"wcl", JW_VERDICT_NO_ROOM, 1, 1, 0, 0, 900, 0, 0, 0, 0, 0, 99},
		{"wc", JW_VERDICT_COLD, 1, 1, 0, 0, 199, 0, 0, 0, 1, 0, 0},
		{"ww", JW_VERDICT_WARM, 1, 1, 0, 0, 199, 0, 0, 0, 0, 0, 0},
		{"w", JW_VERDICT_COLD, 1, 1, 0, 0, 900, 0, 0, 0, 0, 1, 0},
		{"wc", JW_VERDICT_COLD, 1, 1, 1, 1, 900, 0, 0, 0, 0, 0, 0},
		{"w", JW_VERDICT_PARTLY, 1, 1, 1, 1, 900, 0, 0, 0, 0, 0, 0},
		{"w", JW_VERDICT_FAILS, 1, 1, 0, 1, 900, 0, 0, 0, 0, 0, 0},
		{"l", JW_VERDICT_RUNS, 1, 1, 0, 0, 900, 0, 0, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct plan_module modules[3] = {{.entry_bytes = 100}};
		struct plan plan = {.modules = modules,
							.module_count = strlen(cases[i].modules),
							.images = cases[i].images,
							.troubles = cases[i].troubles,
							.fates.count = cases[i].fates};
		struct jw_cache_info settings = {.limit_bytes = cases[i].limit_bytes,
										 .free_bytes =
											 cases[i].free_bytes ? cases[i].free_bytes : UINT64_MAX,
										 .force_ptx_jit = cases[i].forced};
		const struct jw_cache_outlook cache = {.harmful = cases[i].harmful};
		enum jw_verdict verdict;

		plan.profile.stamp[0] = cases[i].unknown ? '\0' : 'J';
		settings.why_useless[0] = cases[i].useless ? 'x' : '\0';
		for (size_t k = 0; k < plan.module_count; k++)
			modules[k] =
				(struct plan_module){.entry_bytes = 100,
									 .state = cases[i].modules[k] == 'w'   ? PLAN_WARM
											  : cases[i].modules[k] == 'c' ? PLAN_COLD
											  : cases[i].modules[k] == 'l' ? PLAN_LEFT_OUT
																		   : PLAN_OVER_BUDGET};
		verdict = verdict_of(&plan, &(struct jw_found){.file_count = cases[i].files}, &settings,
							 !cases[i].elsewhere, &cache);
		if (verdict != cases[i].verdict)
			fail_msg("case %zu: %s, not %s", i, jw_verdict_name(verdict),
					 jw_verdict_name(cases[i].verdict));
	}
}

RUN_TESTS(NULL, NULL)
