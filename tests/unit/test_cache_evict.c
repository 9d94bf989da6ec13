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

static uint64_t insert_of(struct jw_error *err, struct cache_live *live, const char *stamp,
						  unsigned n, int expected)
{
	struct entries_entry entry;
	struct cache_addition addition;

	entries_make_of(&entry, stamp, n, 0);
	addition = addition_of(&entry);
	assert_int_equal(cache_insert(err, live, &addition, 1), expected);
	return entry.key;
}

/* An entry made ahead for the next driver never evicts an entry of the running one. */
TEST(two_drivers_beside_each_other_are_spared)
{
	static const char running[] = "Jun 25 202401:14:48", next[] = "Apr  8 202512:10:18";
	struct entries_entry entry;
	struct cache_live_options how = {
		.when_full = CACHE_FULL_EVICT, .stamp = running, .beside = next, .lock_wait_ms = 60};
	struct cache_live_counts counts;
	struct cache_live *live;
	struct cache_index index;
	uint64_t keys[4], third, unread;
	char *path;

	start_anew();
	entries_make(&entry, 1, 0);
	live = open_live(5 * entry.row_bytes, CACHE_FULL_REFUSE);
	keys[0] = insert_of(NULL, live, running, 1, 0);
	keys[1] = insert_of(NULL, live, next, 1, 0);
	unread = insert_of(NULL, live, "Feb  9 201919:17:30", 1, 0);
	third = insert_of(NULL, live, "Feb  9 201919:17:30", 2, 0);
	keys[2] = insert_of(NULL, live, running, 2, 0);
	OK(cache_live_close(why, live));
	/* A folder in an entry's place has no known driver. */
	path = keep(cache_entry_path(dir, unread));
	OK(os_remove(why, path));
	OK(os_make_dirs(why, path, 0700));

	how.limit_bytes = 5 * entry.row_bytes;
	OK(cache_live_open(why, dir, &how, &live));
	keys[3] = insert_of(NULL, live, next, 2, 0);
	(void)insert_of(NULL, live, next, 3, 0);
	(void)insert_of(why, live, next, 4, -1);
	assert_int_equal(why->code, JW_ERR_LIMIT);
	cache_live_counts(live, &counts);
	assert_int_equal(counts.evicted_in_use, 0);
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	for (size_t i = 0; i < 4; i++)
		assert_true(row_of(&index, keys[i]));
	assert_false(row_of(&index, third));
	cache_index_free(&index);
}

/* The running driver evicts from the front, so unused entries must be there. */
TEST(what_the_driver_in_use_has_goes_last)
{
	static const char running[] = "Jun 25 202401:14:48", next[] = "Apr  8 202512:10:18";
	struct entries_entry entry;
	struct cache_live_options how = {.limit_bytes = 1 << 20, .stamp = running};
	struct cache_live *live;
	struct cache_index index;
	static const size_t order[] = {1, 3, 0, 2, 4};
	uint64_t keys[5];

	start_anew();
	entries_make(&entry, 1, 0);
	live = open_live(1 << 20, CACHE_FULL_REFUSE);
	for (unsigned i = 0; i < 5; i++)
		keys[i] = insert_of(NULL, live, i % 2 ? next : running, i, 0);
	OK(cache_live_close(why, live));
	for (int again = 0; again < 2; again++) {
		OK(cache_live_open(why, dir, &how, &live));
		OK(cache_put_own_last(why, live));
		OK(cache_live_close(why, live));
		assert_consistent(5);
		OK(cache_index_load(why, dir, &index));
		for (size_t i = 0; i < 5; i++)
			assert_int_equal(index.rows[i].key, keys[order[i]]);
		cache_index_free(&index);
	}
}

RUN_TESTS(make_folder, remove_folder)
