/* How hard a shared place is asked, and when it is left alone. */
#include "check.h"

#include "run/share_pace.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

static struct share_pace fresh(void)
{
	struct share_pace pace;

	share_pace_begin(&pace);
	return pace;
}

TEST(a_silent_place_is_left_alone_and_taken_up_again)
{
	struct share_pace pace = fresh();

	for (unsigned i = 1; i < 10; i++)
		share_pace_silent(&pace, i * 200 * MS, 200);
	assert_false(pace.resting);
	share_pace_silent(&pace, 2 * SECOND, 200);
	assert_true(pace.resting);
	assert_true(pace.probe_ns > 2 * SECOND);
	assert_int_equal(share_pace_looks(&pace, 0, 0), 0);
	share_pace_answered(&pace, 5 * SECOND, true);
	assert_false(pace.resting);
	assert_int_equal(share_pace_looks(&pace, 0, 0), 1);
	/* An answer begins the count again */
	share_pace_silent(&pace, 9 * SECOND, 1999);
	share_pace_answered(&pace, MS, true);
	share_pace_silent(&pace, 9 * SECOND, 1999);
	assert_false(pace.resting);
}

TEST(failures_ask_for_ever_longer_rests)
{
	struct share_pace pace = fresh();
	uint64_t now = SECOND, before = 0;

	assert_true(share_pace_failed(&pace, now, false, -1));
	pace = fresh();
	/* 503 is an answer: the place lives */
	assert_false(share_pace_failed(&pace, now, true, 7));
	assert_true(pace.resting);
	assert_int_equal(pace.probe_ns, 8 * SECOND);
	/* Those that failed with it change nothing */
	assert_false(share_pace_failed(&pace, 2 * SECOND, false, 20));
	assert_int_equal(pace.probe_ns, 8 * SECOND);
	for (unsigned i = 0; i < 20; i++) {
		now = pace.probe_ns;
		assert_false(share_pace_failed(&pace, now, false, i % 2 ? 1000000 : -1));
		assert_true(i % 2 || pace.probe_ns - now >= before);
		assert_true(pace.probe_ns - now <= 32 * SECOND);
		before = i % 2 ? before : pace.probe_ns - now;
	}
	/* An answer makes up for all of them */
	share_pace_answered(&pace, MS, true);
	assert_false(share_pace_failed(&pace, now, false, -1));
	assert_int_equal(pace.probe_ns - now, 500 * MS);
}

TEST(slow_answers_make_room_small_and_quick_ones_large)
{
	struct share_pace pace = fresh();
	unsigned room = pace.room;

	assert_int_equal(room, 1);
	for (unsigned i = 0; i < 100; i++) {
		share_pace_answered(&pace, 100 * MS, true);
		assert_true(pace.room >= room);
		room = pace.room;
	}
	assert_int_equal(room, 16);
	share_pace_answered(&pace, 600 * MS, true);
	share_pace_answered(&pace, 5 * SECOND, false);
	assert_int_equal(pace.room, 16);
	share_pace_answered(&pace, 2 * SECOND, true);
	assert_int_equal(pace.room, 8);
	for (unsigned i = 0; i < 100; i++)
		share_pace_answered(&pace, 2 * SECOND, true);
	assert_int_equal(pace.room, 1);
}

TEST(what_is_found_lets_look_for_more)
{
	struct share_pace pace = fresh();

	pace.room = 16;
	for (unsigned i = 0; i < 5; i++)
		share_pace_found(&pace, false);
	assert_int_equal(share_pace_looks(&pace, 0, 0), 0);
	share_pace_found(&pace, true);
	assert_int_equal(share_pace_looks(&pace, 0, 0), 4);
	assert_int_equal(share_pace_looks(&pace, 3, 3), 1);
	assert_int_equal(share_pace_looks(&pace, 15, 0), 1);
	assert_int_equal(share_pace_looks(&pace, 20, 9), 0);
	for (unsigned i = 0; i < 5; i++)
		share_pace_found(&pace, true);
	assert_int_equal(share_pace_looks(&pace, 0, 0), 16);
}

RUN_TESTS(NULL, NULL)
