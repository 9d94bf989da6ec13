/* What other processes do between two steps of this one, and steps that fail: each comes through
 * the gates at its moment. */
#include "gates_posix.h"

#include "cache/live.h"
#include "cache/remove.h"
#include "held_lock.h"
#include "open_files.h"

static unsigned locks;
static bool rename_fails;

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (rename_fails) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int rename(const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static bool is_index(const char *path)
{
	return !strcmp(os_base_name(path), "index");
}

/* ---- the lock */

/* Nor does a hold that is given up keep the lock or the file. */
TEST(what_fails_lets_go_of_the_lock)
{
	static const uint8_t other[32] = {0x42};
	char *index = os_join(NULL, dir, "index");
	struct entries_entry entries[2];
	struct cache_addition two[2];
	struct cache_live *live;
	struct jw_error err = {0};
	size_t before;

	start_anew();
	fill(1, 1);
	write_index(other, sizeof other);
	before = open_files();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	assert_int_equal(insert_one(&err, live, 2, 0, NULL), -1);
	assert_int_equal(err.code, JW_ERR_UNSUPPORTED);
	assert_int_equal(open_files(), before);
	assert_true(gate_can_lock(index));
	assert_int_equal(cache_live_close(NULL, live), 0);
	/* The second of two entries finds no room: the first has its row by then. */
	start_anew();
	fill(1, 1);
	for (unsigned i = 0; i < 2; i++) {
		entries_make(&entries[i], i + 2, 0);
		two[i] = addition_of(&entries[i]);
	}
	live = open_live(2 * entries[0].row_bytes, CACHE_FULL_REFUSE);
	assert_int_equal(cache_insert(&err, live, two, 2), -1);
	assert_int_equal(err.code, JW_ERR_LIMIT);
	assert_true(gate_can_lock(index));
	assert_consistent(2);
	assert_int_equal(cache_live_close(NULL, live), 0);
	mem_free(index);
}

/* ---- a repair beside others */

static enum { GROW, TEAR, RIGHT } meanwhile;

/* Before the second hold another process replaces the file of entry 1, and writes to the index. */
static void replace_meanwhile(const char *path)
{
	struct entries_entry entry;
	struct cache_index index;
	struct buf bytes = {0};
	char *file;

	if (!is_index(path) || ++locks != 2)
		return;
	entries_make(&entry, 1, meanwhile == GROW ? 64 : 0);
	file = cache_entry_path(NULL, dir, entry.key);
	assert_int_equal(
		os_write_atomic(NULL, file, entry.bytes, entry.size - (meanwhile == TEAR ? 1 : 0)), 0);
	mem_free(file);
	assert_int_equal(cache_index_load(NULL, dir, &index), 0);
	if (meanwhile == RIGHT)
		index.rows[0].size_bytes = entry.row_bytes;
	else
		index.rows[0].size_bytes++;
	assert_int_equal(cache_index_format(NULL, &index, &bytes), 0);
	{
		int fd = open(path, O_RDWR | O_CLOEXEC);

		assert_int_equal(pwrite(fd, bytes.data, bytes.size, 0), bytes.size);
		(void)close(fd);
	}
	buf_free(&bytes);
	cache_index_free(&index);
}

TEST(a_size_is_looked_at_again_beside_others)
{
	for (meanwhile = GROW; meanwhile <= RIGHT; meanwhile++) {
		struct cache_live_counts counts;
		struct entries_entry entry;
		struct cache_index index;
		struct cache_live *live;
		struct buf bytes = {0};

		start_anew();
		fill(1, 2);
		entries_make(&entry, 1, 0);
		assert_int_equal(cache_index_load(NULL, dir, &index), 0);
		index.rows[0].size_bytes += 5;
		assert_int_equal(cache_index_format(NULL, &index, &bytes), 0);
		write_index(bytes.data, bytes.size);
		buf_free(&bytes);
		cache_index_free(&index);
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		locks = 0;
		gate_before_lock = replace_meanwhile;
		assert_int_equal(cache_repair(NULL, live), 0);
		gate_before_lock = NULL;
		cache_live_counts(live, &counts);
		assert_int_equal(cache_live_close(NULL, live), 0);
		assert_int_equal(cache_index_load(NULL, dir, &index), 0);
		assert_int_equal(index.count, 2);
		assert_int_equal(index.rows[0].size_bytes, meanwhile == GROW   ? entry.row_bytes + 64
												   : meanwhile == TEAR ? entry.row_bytes + 6
																	   : entry.row_bytes);
		assert_int_equal(counts.mended, meanwhile == GROW);
		cache_index_free(&index);
	}
}

/* ---- what fails */

TEST(what_cannot_be_evicted_makes_no_room)
{
	struct entries_entry entry;
	struct cache_live_counts counts;
	struct cache_live *live;
	struct jw_error err = {0};

	entries_make(&entry, 1, 0);
	start_anew();
	fill(1, 2);
	live = open_live(2 * entry.row_bytes, CACHE_FULL_EVICT);
	gate_removal_fails = true;
	assert_int_equal(insert_one(&err, live, 3, 0, NULL), -1);
	gate_removal_fails = false;
	assert_int_equal(err.code, JW_ERR_IO);
	cache_live_counts(live, &counts);
	assert_int_equal(counts.evicted, 0);
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_consistent(2);
}

/* The limit itself is room for one entry of that size. */
TEST(an_entry_may_fill_the_limit)
{
	struct entries_entry entry;
	struct cache_live *live;

	entries_make(&entry, 1, 0);
	start_anew();
	live = open_live(entry.row_bytes - 1, CACHE_FULL_EVICT);
	assert_int_equal(insert_one(NULL, live, 1, 0, NULL), -1);
	assert_int_equal(cache_live_close(NULL, live), 0);
	live = open_live(entry.row_bytes, CACHE_FULL_EVICT);
	assert_int_equal(insert_one(NULL, live, 1, 0, NULL), 0);
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_consistent(1);
}

/* The index is as it was before the last insert; of the two own entries one is gone. */
TEST(only_rows_of_files_that_are_there_are_restored)
{
	char *index = os_join(NULL, dir, "index"), *file = cache_entry_path(NULL, dir, key_of(3));
	struct cache_live_counts counts;
	struct cache_live *live;
	struct buf before = {0};
	unsigned added = 0;

	start_anew();
	fill(1, 1);
	assert_int_equal(os_read_file(NULL, index, 4096, &before), 0);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	assert_int_equal(insert_one(NULL, live, 2, 0, NULL), 0);
	assert_int_equal(insert_one(NULL, live, 3, 0, NULL), 0);
	assert_int_equal(os_remove(NULL, file), 0);
	write_index(before.data, before.size);
	/* Under load the lock may be held too long for it: the next time goes on. */
	for (counts.restored = 0; !counts.restored && added < 100; cache_live_counts(live, &counts))
		assert_int_equal(insert_one(NULL, live, 4 + added++, 0, NULL), 0);
	assert_int_equal(counts.restored, 1);
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_consistent(2 + added);
	buf_free(&before);
	mem_free(index);
	mem_free(file);
}

RUN_TESTS(make_folder, remove_folder)
