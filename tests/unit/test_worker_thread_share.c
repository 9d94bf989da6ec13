/* Which modules are compiled over several threads, and how they are marked afterwards. */
#include <unistd.h> /* the workers are shell scripts */

#include "runs.h"

#include "history/ledger.h"
#include "worker/thread_share.h"

static void shares(void **state)
{
	static const struct {
		double cost_ms, others_ms;
		unsigned cores, threads;
	} cases[] = {
		{.cost_ms = 15000, .cores = 2, .threads = 2}, /* the last one */
		{.cost_ms = 15000,
		 .others_ms = 100,
		 .cores = 2,
		 .threads = 2}, /* the other core finishes its own work at once */
		{.cost_ms = 15000, .others_ms = 15000, .cores = 2, .threads = 1}, /* here it does not */
		{.cost_ms = 15000, .others_ms = 1e6, .cores = 64, .threads = 1},  /* enough for all */
		{.cost_ms = 15000,
		 .others_ms = 15000,
		 .cores = 16,
		 .threads = 8}, /* two for sixteen cores */
		{.cost_ms = 15000, .others_ms = 45000, .cores = 16, .threads = 4}, /* four */
		{.cost_ms = 15000, .cores = 64, .threads = 8}, /* more threads gain nothing */
		{.cost_ms = 15000, .cores = 1, .threads = 1},  /* one core */
		{.cost_ms = 15000, .threads = 1},              /* not allowed */
		{.cost_ms = 999, .cores = 16, .threads = 1},   /* a short one */
		{.cost_ms = 1000, .cores = 16, .threads = 8},
		{.cores = 16, .threads = 1},
		{.cost_ms = 15000,
		 .others_ms = -5000,
		 .cores = 2,
		 .threads = 2}, /* others take longer than predicted */
		{.others_ms = 15000, .cores = 2, .threads = 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (thread_share(cases[i].cost_ms, cases[i].others_ms, cases[i].cores) != cases[i].threads)
			fail_msg("case %zu", i);
}

/* Records which jobs came split ("3s"), and does them. */
#define NOTE "case $line in *'\"threads\":2'*) echo $1s >>\"$marks/order\";; esac\n"

/* In the ledger, from before the entry existed. */
static size_t count_split_marks(void)
{
	struct ledger ledger;
	size_t count;

	ledger_open(&ledger, state_dir, cache);
	count = ledger_count_marked(&ledger, LEDGER_SPLIT, cache);
	ledger_close(&ledger);
	return count;
}

static void one_long_module_is_split(void **state)
{
	struct jw_error err = {0};

	(void)state;
	split_cores = 2;
	modules[0].cost_ms = 60000;
	assert_int_equal(run_with(&err, 2, "do_job() { " NOTE "fine $1; }\nhello; serve\n"), 0);
	expect_all();
	assert_int_equal(result->split, 1);
	assert_int_equal(count_split_marks(), 1);
	assert_true(split[0]);
	assert_false(split[1]);
	expect_order("0s\n", true);
}

static void none_is_where_it_is_not_allowed(void **state)
{
	struct jw_error err = {0};

	(void)state;
	modules[0].cost_ms = 60000;
	assert_int_equal(run_with(&err, 2,
							  "do_job() { echo x >>\"$marks/order\"\n" NOTE
							  "fine $1; }\nhello; serve\n"),
					 0);
	expect_all();
	assert_int_equal(result->split, 0);
	expect_order("x\nx\nx\nx\nx\nx\n", true);
}

static void what_fails_split_is_tried_whole(void **state)
{
	struct jw_error err = {0};

	(void)state;
	split_cores = 2;
	modules[0].cost_ms = 60000;
	assert_int_equal(run_with(&err, 2,
							  "do_job() { case $line in *'\"threads\":2'*) answer $1 1; return;; "
							  "esac\nfine $1; }\nhello; serve\n"),
					 0);
	expect_all();
	assert_int_equal(result->split, 0);
	assert_int_equal(count_split_marks(), 0);
	assert_false(split[0]);
}

static void none_is_without_memory_for_it(void **state)
{
	struct jw_error err = {0};

	(void)state;
	split_cores = 2;
	options.max_memory_bytes = (uint64_t)1 << 30;
	modules[0].cost_ms = 60000;
	modules[0].memory_bytes = (uint64_t)700 << 20; /* unsplit it fits, doubled it does not */
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	expect_all();
	assert_int_equal(result->split, 0);
	modules[0].memory_bytes = (uint64_t)300 << 20;
	assert_int_equal(os_remove_tree(NULL, cache), 0);
	result->compiled = 0;
	assert_int_equal(run_with(&err, 2, "do_job() { fine $1; }\nhello; serve\n"), 0);
	expect_all();
	assert_int_equal(result->split, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		CASE(one_long_module_is_split),
		CASE(none_is_where_it_is_not_allowed),
		CASE(what_fails_split_is_tried_whole),
		CASE(none_is_without_memory_for_it),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
