/* An insert waits for a lock, but not for ever, and restores rows that others have lost;
 * test_model_cache.c has more actors. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "held_lock.h"
#include "index_bytes.h"

/* A driver that looks up an entry holds a shared lock, and one that adds an entry an exclusive one.
 */
TEST(a_lock_is_waited_for_but_not_for_ever)
{
	for (int exclusive = 0; exclusive < 2; exclusive++) {
		struct cache_live *live;
		int release;
		pid_t child;

		start_anew();
		fill(1, 1);
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		release = hold_lock(exclusive, &child);
		assert_true(release >= 0);
		GIVES(JW_ERR_BUSY, insert_one(why, live, 2, 0, NULL));
		end_lock(release, child);
		OK(insert_one(why, live, 2, 0, NULL));
		OK(cache_live_close(why, live));
		assert_consistent(2);
	}
}

TEST(a_pipe_is_not_an_entry)
{
	struct cache_live *live;
	struct entries_entry entry;
	struct cache_addition addition;
	char *made = keep(os_join(folder, "pipe"));

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	entries_make(&entry, 1, 0);
	addition = addition_of(&entry);
	addition.path = made;
	assert_int_equal(mkfifo(made, 0600), 0);
	(void)alarm(60); /* opening a pipe waits for a writer */
	OK(cache_insert(why, live, &addition, 1));
	(void)alarm(0);
	assert_int_equal(addition.added, CACHE_ADDED_REFUSED);
	OK(cache_live_close(why, live));
}

/* Rows are restored even if reading the index takes as long as a hold may: then each hold restores
 * one. */
TEST(rows_are_restored_in_a_large_index)
{
	enum { MANY = 2 << 20 };
	struct cache_index index = {.rows = mem_array(MANY, sizeof *index.rows)};
	struct cache_live *live;
	struct buf bytes;

	assert_non_null(index.rows);
	for (; index.count < MANY; index.count++)
		index.rows[index.count] = (struct cache_row){index.count + 1, 0};
	bytes = index_bytes(&index);
	cache_index_free(&index);
	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(insert_one(why, live, 1, 0, NULL));
	OK(insert_one(why, live, 2, 0, NULL));
	write_index(bytes.data, bytes.size);
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, MANY + 2);
	assert_int_equal(index.rows[MANY].key, key_of(2));
	assert_int_equal(index.rows[MANY + 1].key, key_of(1));
	cache_index_free(&index);
	buf_free(&bytes);
}

RUN_TESTS(make_folder, remove_folder)
