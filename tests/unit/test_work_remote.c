/* Many nodes without a coordinator: each node's order, what claims do, and when a shared folder is
 * given up. */
#include "check.h"

#include <string.h>

#include "work/remote.h"

enum { MODULES = 40 };

static const uint64_t SECOND = 1000000000;

static void order_of(uint64_t node, struct remote_turn turns[MODULES])
{
	for (size_t i = 0; i < MODULES; i++)
		turns[i] = (struct remote_turn){i, 1000 + i, i % 4 ? 1100 : 5000, 0, 0};
	remote_order(node, turns, MODULES);
}

TEST(dear_ones_are_first_and_nodes_differ)
{
	struct remote_turn one[MODULES], again[MODULES], other[MODULES];
	bool there[MODULES] = {0}, differs = false;

	order_of(1, one);
	order_of(1, again);
	order_of(2, other);
	for (size_t i = 0; i < MODULES; i++) {
		differs = differs || one[i].module != other[i].module;
		assert_int_equal(one[i].module, again[i].module);
		assert_int_equal(one[i].cost_ms > 2000, i < MODULES / 4);
		assert_int_equal(other[i].cost_ms > 2000, i < MODULES / 4);
		assert_false(there[other[i].module]);
		there[other[i].module] = true;
	}
	assert_true(differs);
}

TEST(a_claim_counts_from_when_it_is_seen)
{
	struct remote_module known = {.state = REMOTE_MISSING};

	/* three times the compile, and five seconds */
	remote_see_claim(&known, 1000, 10 * SECOND, 7);
	assert_int_equal(known.state, REMOTE_THEIRS);
	assert_int_equal(known.until_ns, 18 * SECOND);
	assert_int_equal(known.again_ns, 10 * SECOND + SECOND / 2);
	assert_false(remote_may_ask(&known, known.again_ns - 1));
	assert_true(remote_may_ask(&known, known.again_ns));
	assert_false(remote_may_claim(&known, known.until_ns - 1));
	assert_true(remote_may_claim(&known, known.until_ns));
	known.asked = true;
	assert_false(remote_may_claim(&known, known.until_ns) ||
				 remote_may_ask(&known, known.until_ns));
	known.asked = false;
	/* A claim that is seen again does not last longer; then it is dead. */
	remote_see_claim(&known, 1000, 12 * SECOND, 7);
	assert_int_equal(known.until_ns, 18 * SECOND);
	assert_int_equal(remote_dead_claim(&known, known.until_ns - 1), 0);
	assert_int_equal(remote_dead_claim(&known, known.until_ns), 7);
}

TEST(claims_do_not_go_on_forever)
{
	struct remote_module known = {.state = REMOTE_MISSING};

	assert_int_equal(remote_dead_claim(&known, 100 * SECOND), 0);
	/* A claim each second, while one of them counts for eight: together they count for 16. */
	for (uint64_t second = 1; second < 17; second++) {
		remote_see_claim(&known, 1000, second * SECOND, second);
		assert_int_equal(known.state, REMOTE_THEIRS);
		assert_true(known.again_ns <= known.until_ns);
		assert_int_equal(known.until_ns, (second < 9 ? second + 8 : 17) * SECOND);
	}
	remote_see_claim(&known, 1000, 17 * SECOND, 17);
	assert_int_equal(known.state, REMOTE_OURS);
}

TEST(nobody_waits_longer_than_a_claim_counts)
{
	struct remote_module known = {.state = REMOTE_MISSING};

	remote_see_claim(&known, 20000, SECOND, 7);
	assert_int_equal(known.until_ns, 66 * SECOND);
	remote_see_nothing(&known, 20000, 65 * SECOND);
	assert_int_equal(known.again_ns, 66 * SECOND);
}

TEST(a_folder_that_costs_too_much_is_given_up)
{
	static const struct {
		uint64_t silent_s, waited_s;
		double saved_s, work_s;
		bool gives_up;
	} cases[] = {
		{0, 0, 0, 0, false},  {9, 9, 0, 0, false},    {10, 10, 100, 1000, true},
		{0, 10, 0, 0, false}, {0, 11, 0, 0, true},    {0, 40, 30, 0, false},
		{0, 41, 30, 0, true}, {0, 20, 0, 100, false}, {0, 21, 0, 100, true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct remote remote = {.silent_ns = cases[i].silent_s * SECOND,
									  .waited_ns = cases[i].waited_s * SECOND};

		if (!remote_should_stop(&remote, cases[i].saved_s, cases[i].work_s) == cases[i].gives_up)
			fail_msg("case %zu", i);
	}
}

RUN_TESTS(NULL, NULL)
