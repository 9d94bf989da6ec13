/* An insert into a full cache keeps the limit, and evicts only entries that may be evicted. */
#include "check.h"

#include "inserting.h"

TEST(the_limit_is_kept)
{
	struct entries_entry entry;
	struct cache_live *live;
	struct cache_live_counts counts;
	struct cache_index index;

	start_anew();
	fill(1, 4);
	entries_make(&entry, 1, 0);
	live = open_live(5 * entry.row_bytes, CACHE_FULL_REFUSE);
	OK(insert_one(why, live, 5, 0, NULL));
	GIVES(JW_ERR_LIMIT, insert_one(why, live, 6, 0, NULL));
	(void)cache_live_close(NULL, live);
	assert_consistent(5);

	/* The oldest entries are evicted, except those that the same handle has inserted. */
	live = open_live(5 * entry.row_bytes, CACHE_FULL_EVICT);
	for (unsigned n = 6; n <= 10; n++)
		OK(insert_one(why, live, n, 0, NULL));
	GIVES(JW_ERR_LIMIT, insert_one(why, live, 11, 0, NULL));
	cache_live_counts(live, &counts);
	assert_int_equal(counts.evicted, 5);
	(void)cache_live_close(NULL, live);
	assert_consistent(5);
	OK(cache_index_load(why, dir, &index));
	assert_true(row_of(&index, key_of(6)));
	assert_false(row_of(&index, key_of(5)));
	cache_index_free(&index);
}

TEST(orphans_are_not_counted_past_the_limit)
{
	struct entries_entry entry;
	struct cache_index index;
	struct cache_live *live;

	start_anew();
	fill(1, 4);
	write_index("", 0);
	entries_make(&entry, 1, 0);
	live = open_live(2 * entry.row_bytes, CACHE_FULL_REFUSE);
	OK(cache_repair(why, live));
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, 2);
	cache_index_free(&index);
}

RUN_TESTS(make_folder, remove_folder)
