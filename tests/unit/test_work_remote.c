/* Many nodes without a coordinator: each one's order, what claims count for, how hard a shared
 * place is asked, and when it is left alone. */
#include "check.h"

#include <string.h>

#include "work/remote.h"

enum { MODULES = 40 };

static const uint64_t MS = 1000000, SECOND = 1000000000;

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

	/* Three times the compile, and five seconds */
	remote_see_claim(&known, 1000, 10 * SECOND, 7);
	assert_int_equal(known.state, REMOTE_THEIRS);
	assert_int_equal(known.until_ns, 18 * SECOND);
	assert_int_equal(known.again_ns, 10 * SECOND + SECOND / 2);
	assert_false(remote_may_look(&known, known.again_ns - 1));
	assert_true(remote_may_look(&known, known.again_ns));
	assert_false(remote_may_claim(&known, known.until_ns - 1));
	assert_true(remote_may_claim(&known, known.until_ns));
	known.asked = true;
	assert_false(remote_may_claim(&known, known.until_ns) ||
				 remote_may_look(&known, known.until_ns));
	known.asked = false;
	/* The same one, seen again, does not last longer; and then it is dead */
	remote_see_claim(&known, 1000, 12 * SECOND, 7);
	assert_int_equal(known.until_ns, 18 * SECOND);
	assert_int_equal(remote_dead_claim(&known, known.until_ns - 1), 0);
	assert_int_equal(remote_dead_claim(&known, known.until_ns), 7);
}

TEST(claims_do_not_go_on_forever)
{
	struct remote_module known = {.state = REMOTE_MISSING};

	assert_int_equal(remote_dead_claim(&known, 100 * SECOND), 0);
	for (uint64_t claim = 1; claim <= 3; claim++) {
		remote_see_claim(&known, 1, claim * SECOND, claim);
		assert_int_equal(known.state, REMOTE_THEIRS);
		assert_true(known.again_ns <= known.until_ns);
	}
	remote_see_claim(&known, 1, 4 * SECOND, 4);
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

static struct remote_pace fresh(void)
{
	return (struct remote_pace){.room = 1, .found = true};
}

TEST(a_silent_place_is_left_alone_and_taken_up_again)
{
	struct remote_pace pace = fresh();

	for (unsigned i = 1; i < 10; i++)
		remote_pace_silent(&pace, i * 200 * MS, 200);
	assert_false(pace.resting);
	remote_pace_silent(&pace, 2 * SECOND, 200);
	assert_true(pace.resting);
	assert_true(pace.probe_ns > 2 * SECOND);
	remote_pace_answered(&pace, 5 * SECOND, true);
	assert_false(pace.resting);
	assert_int_equal(pace.room, 1);
	/* An answer begins the count again */
	remote_pace_silent(&pace, 9 * SECOND, 1999);
	remote_pace_answered(&pace, MS, true);
	remote_pace_silent(&pace, 9 * SECOND, 1999);
	assert_false(pace.resting);
}

TEST(failures_are_rests_as_long_as_is_asked_for)
{
	struct remote_pace pace = fresh();

	assert_true(remote_pace_failed(&pace, SECOND, false, -1));
	pace = fresh();
	pace.room = 16;
	/* 503 is an answer: the place lives */
	assert_false(remote_pace_failed(&pace, SECOND, true, 7));
	assert_true(pace.resting);
	assert_int_equal(pace.room, 1);
	assert_int_equal(pace.probe_ns, 8 * SECOND);
	/* Those that fail with it make the rest no shorter */
	assert_false(remote_pace_failed(&pace, 2 * SECOND, false, -1));
	assert_int_equal(pace.probe_ns, 8 * SECOND);
	assert_false(remote_pace_failed(&pace, 8 * SECOND, false, -1));
	assert_int_equal(pace.probe_ns, 8 * SECOND + 500 * MS);
	assert_false(remote_pace_failed(&pace, 9 * SECOND, true, 1000000));
	assert_int_equal(pace.probe_ns, 39 * SECOND);
	remote_pace_answered(&pace, MS, true);
	assert_false(pace.resting);
}

TEST(slow_answers_make_room_small_and_quick_ones_large)
{
	struct remote_pace pace = fresh();
	unsigned room = pace.room;

	assert_int_equal(room, 1);
	for (unsigned i = 0; i < 100; i++) {
		remote_pace_answered(&pace, 100 * MS, true);
		assert_true(pace.room >= room);
		room = pace.room;
	}
	assert_int_equal(room, 16);
	remote_pace_answered(&pace, 600 * MS, true);
	remote_pace_answered(&pace, 5 * SECOND, false);
	assert_int_equal(pace.room, 16);
	remote_pace_answered(&pace, 2 * SECOND, true);
	assert_int_equal(pace.room, 8);
	for (unsigned i = 0; i < 100; i++)
		remote_pace_answered(&pace, 2 * SECOND, true);
	assert_int_equal(pace.room, 1);
}

RUN_TESTS(NULL, NULL)
