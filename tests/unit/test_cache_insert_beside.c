/* Inserting into a cache that other processes lock, remove, write or that are killed meanwhile. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "held_lock.h"
#include "index_bytes.h"

TEST(a_lock_is_waited_for_but_not_for_ever)
{
	struct cache_live *live;
	int release;
	pid_t child;

	start_anew();
	fill(1, 1);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	release = hold_lock(true, &child);
	assert_true(release >= 0);
	GIVES(JW_ERR_BUSY, insert_one(why, live, 2, 0, NULL));
	end_lock(release, child);
	OK(insert_one(why, live, 2, 0, NULL));
	OK(cache_live_close(why, live));
	assert_consistent(2);
}

/* A child that waits for the folder of entry `n`, which is made while the entry is staged, then
 * removes `victim` and releases the lock. */
static pid_t remove_when_staged(unsigned n, const char *victim, int release)
{
	struct entries_entry entry;
	char *path, *level;
	pid_t child;

	entries_make(&entry, n, 0);
	path = cache_entry_path(dir, entry.key);
	level = os_dir_name(path);
	child = fork();
	if (!child) {
		while (!os_exists(level))
			(void)usleep(1000);
		(void)os_remove_tree(NULL, victim ? victim : level);
		_exit(0);
	}
	(void)close(release);
	mem_free(path);
	mem_free(level);
	return child;
}

TEST(a_folder_that_is_removed_meanwhile_is_made_again)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct cache_live *live = NULL;
	pid_t holder, remover;
	int release;

	start_anew();
	fill(1, 1);
	OK(cache_live_open(why, dir, &options, &live));
	release = hold_lock(true, &holder);
	assert_true(release >= 0);
	remover = remove_when_staged(2, NULL, release);
	OK(insert_one(why, live, 2, 0, NULL));
	assert_int_equal(waitpid(remover, NULL, 0), remover);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	OK(cache_live_close(why, live));
	assert_consistent(2);
}

TEST(an_entry_removed_after_the_comparison_is_not_a_hit)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct entries_entry entries[2];
	struct cache_addition additions[2];
	struct cache_live *live = NULL;
	pid_t holder, remover;
	char *first;
	int release;

	start_anew();
	fill(1, 1);
	for (unsigned i = 0; i < 2; i++) {
		entries_make(&entries[i], i + 1, 0);
		additions[i] = addition_of(&entries[i]);
	}
	first = cache_entry_path(dir, entries[0].key);
	OK(cache_live_open(why, dir, &options, &live));
	release = hold_lock(true, &holder);
	assert_true(release >= 0);
	remover = remove_when_staged(2, first, release);
	GIVES(JW_ERR_BUSY, cache_insert(why, live, additions, 2));
	assert_int_equal(additions[0].added, CACHE_ADDED_NOT);
	assert_int_equal(waitpid(remover, NULL, 0), remover);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	OK(cache_live_close(why, live));
	mem_free(first);
}

TEST(a_pipe_is_not_an_entry)
{
	struct cache_live *live;
	struct entries_entry entry;
	struct cache_addition addition;
	char *made = os_join(folder, "pipe");

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	entries_make(&entry, 1, 0);
	addition = addition_of(&entry);
	addition.path = made;
	assert_int_equal(mkfifo(made, 0600), 0);
	(void)alarm(60); /* one that is opened waits for a writer */
	OK(cache_insert(why, live, &addition, 1));
	(void)alarm(0);
	assert_int_equal(addition.added, CACHE_ADDED_REFUSED);
	OK(cache_live_close(why, live));
	mem_free(made);
}

/* A driver writes the index after it has released the lock, so that rows added meanwhile go */
TEST(rows_removed_by_a_late_write_are_restored)
{
	char *path = os_join(dir, "index");
	struct buf before = {0};
	struct cache_live *live;
	struct cache_live_counts counts;

	start_anew();
	fill(1, 3);
	OK(os_read_file(why, path, 4096, &before));
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(insert_one(why, live, 4, 0, NULL));
	write_index(before.data, before.size);
	OK(insert_one(why, live, 5, 0, NULL));
	write_index(before.data, before.size);
	cache_live_counts(live, &counts);
	assert_int_equal(counts.restored, 1);
	OK(cache_live_close(why, live));
	assert_consistent(5);
	buf_free(&before);
	mem_free(path);
}

/* Also where reading the index takes as long as a hold may: then one in each hold. */
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

/* Killed at any moment, it loses nothing, and no driver would wipe. */
TEST(a_killed_insert_loses_nothing)
{
	unsigned seed = 1;

	start_anew();
	fill(1, 20);
	for (unsigned round = 0; round < 30; round++) {
		struct cache_files scan;
		struct cache_index index;
		int status;
		pid_t child = fork();

		if (!child) {
			fill(100 + 50 * round, 149 + 50 * round);
			_exit(0);
		}
		seed = seed * 1103515245u + 12345u;
		(void)usleep(seed / 65536 % 15000);
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		OK(cache_index_load(why, dir, &index));
		assert_int_equal(index.state, CACHE_INDEX_SOUND);
		OK(cache_files_scan(why, dir, /* headers= */ true, &scan));
		assert_true(scan.count >= 20);
		for (size_t i = 0; i < scan.count; i++)
			assert_int_equal(scan.files[i].probed.damage, CACHE_SOUND);
		for (unsigned n = 1; n <= 20; n++)
			assert_non_null(cache_files_find(&scan, key_of(n)));
		cache_files_free(&scan);
		cache_index_free(&index);
	}
	fill(5000, 5000);
	{
		struct cache_files scan;

		OK(cache_files_scan(why, dir, /* headers= */ true, &scan));
		assert_consistent(scan.count);
		cache_files_free(&scan);
	}
}

RUN_TESTS(make_folder, remove_folder)
