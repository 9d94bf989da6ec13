/* Many nodes without a coordinator: each one's order, and what claims count for. */
#include "check.h"

#include <string.h>

#include "run/share_order.h"

enum { MODULES = 40 };

static const uint64_t SECOND = 1000000000;

static void order_of(uint64_t node, struct share_turn turns[MODULES])
{
	for (size_t i = 0; i < MODULES; i++)
		turns[i] = (struct share_turn){i, 1000 + i, i % 4 ? 1100 : 5000};
	assert_int_equal(share_order(NULL, node, turns, MODULES), 0);
}

TEST(dear_ones_are_first_and_nodes_differ)
{
	struct share_turn one[MODULES], again[MODULES], other[MODULES];
	bool there[MODULES] = {0};

	order_of(1, one);
	order_of(1, again);
	order_of(2, other);
	assert_memory_equal(one, again, sizeof one);
	assert_memory_not_equal(one, other, sizeof one);
	for (size_t i = 0; i < MODULES; i++) {
		assert_int_equal(one[i].cost_ms > 2000, i < MODULES / 4);
		assert_int_equal(other[i].cost_ms > 2000, i < MODULES / 4);
		assert_false(there[other[i].module]);
		there[other[i].module] = true;
	}
}

TEST(a_claim_counts_from_when_it_is_seen)
{
	struct remote_module known = {.state = REMOTE_MISSING};

	/* No longer than we would claim it ourselves */
	share_see_claim(&known, 1000, 10 * SECOND, 7, 1000000);
	assert_int_equal(known.state, REMOTE_THEIRS);
	assert_int_equal(known.until_ns, (10 + share_claim_seconds(1000)) * SECOND);
	assert_int_equal(known.again_ns, 10 * SECOND + SECOND / 2);
	assert_false(share_may_look(&known, known.again_ns - 1));
	assert_true(share_may_look(&known, known.again_ns));
	assert_false(share_may_claim(&known, known.until_ns - 1));
	assert_true(share_may_claim(&known, known.until_ns));
	known.asked = true;
	assert_false(share_may_claim(&known, known.until_ns) || share_may_look(&known, known.until_ns));
	known.asked = false;
	/* The same one, seen again, does not last longer; and then it is dead */
	share_see_claim(&known, 1000, 12 * SECOND, 7, 1000000);
	assert_int_equal(known.until_ns, (10 + share_claim_seconds(1000)) * SECOND);
	assert_int_equal(share_dead_claim(&known, known.until_ns - 1), 0);
	assert_int_equal(share_dead_claim(&known, known.until_ns), 7);
}

TEST(claims_do_not_go_on_forever)
{
	struct remote_module known = {.state = REMOTE_MISSING};

	assert_int_equal(share_dead_claim(&known, 100 * SECOND), 0);
	for (uint64_t claim = 1; claim <= 3; claim++) {
		share_see_claim(&known, 60000, claim * SECOND, claim, 1);
		assert_int_equal(known.state, REMOTE_THEIRS);
		/* Not after its end, however long the compile is */
		assert_true(known.again_ns <= known.until_ns);
	}
	share_see_claim(&known, 60000, 4 * SECOND, 4, 1);
	assert_int_equal(known.state, REMOTE_OURS);
}

RUN_TESTS(NULL, NULL)
