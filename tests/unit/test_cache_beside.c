/* Other processes act between two steps of this one, and steps fail, each at its exact moment
 * through a gate: no entry, row, lock or file is lost. */
#include "gates_posix.h"

#include "cache/live.h"
#include "cache/remove.h"
#include "held_lock.h"
#include "index_bytes.h"
#include "open_files.h"
#include "renames.h"

static unsigned locks;
static bool rename_fails;

static int renames(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	if (rename_fails) {
		errno = EIO;
		return -1;
	}
	return rename_really(from_dir, from, to_dir, to, flags);
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

static int release_fd;
static pid_t holder;

/* At the second try, the other process releases the lock. */
static void let_go_at_second(const char *path)
{
	if (is_index(path) && ++locks == 2)
		end_lock(release_fd, holder);
}

TEST(a_lock_is_tried_until_its_time_is_over)
{
	static const unsigned waits[] = {60000, 0};
	struct cache_live *live;

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		const struct cache_live_options options = {.limit_bytes = 1 << 30,
												   .lock_wait_ms = waits[i]};

		start_anew();
		fill(1, 1);
		OK(cache_live_open(why, dir, &options, &live));
		release_fd = hold_lock(true, &holder);
		assert_true(release_fd >= 0);
		locks = 0;
		gate_before_lock = let_go_at_second;
		OK(insert_one(why, live, 2, 0, NULL));
		gate_before_lock = NULL;
		OK(cache_live_close(why, live));
		assert_consistent(2);
	}
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	release_fd = hold_lock(true, &holder);
	GIVES(JW_ERR_BUSY, insert_one(why, live, 3, 0, NULL));
	assert_non_null(strstr(why->message, "for 0.1 s"));
	end_lock(release_fd, holder);
	OK(cache_live_close(why, live));
}

/* A hold that is given up keeps neither the lock nor the file. */
TEST(what_fails_lets_go_of_the_lock)
{
	static const uint8_t other[32] = {0x42};
	char *index = keep(os_join(dir, "index"));
	struct entries_entry entries[2];
	struct cache_addition two[2];
	struct cache_live *live;
	size_t before;

	start_anew();
	fill(1, 1);
	write_index(other, sizeof other);
	before = open_files();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	GIVES(JW_ERR_UNSUPPORTED, insert_one(why, live, 2, 0, NULL));
	assert_int_equal(open_files(), before + 1); /* the lock of the folder for staged files */
	assert_true(gate_can_lock(index));
	OK(cache_live_close(why, live));
	/* The second of two entries does not fit: the first has its row by then. */
	start_anew();
	fill(1, 1);
	for (unsigned i = 0; i < 2; i++) {
		entries_make(&entries[i], i + 2, 0);
		two[i] = addition_of(&entries[i]);
	}
	live = open_live(2 * entries[0].row_bytes, CACHE_FULL_REFUSE);
	GIVES(JW_ERR_LIMIT, cache_insert(why, live, two, 2));
	assert_true(gate_can_lock(index));
	assert_consistent(2);
	OK(cache_live_close(why, live));
}

static uint64_t holds_of(size_t rows)
{
	struct cache_index index = {.rows = mem_array(rows, sizeof *index.rows), .count = rows};
	struct cache_live_counts counts;
	struct cache_live *live;
	struct buf bytes = {0};

	for (size_t i = 0; i < rows; i++)
		index.rows[i] = (struct cache_row){i + 1, 7};
	start_anew();
	OK(os_make_dirs(why, dir, 0700));
	bytes = index_bytes(&index);
	write_index(bytes.data, bytes.size);
	buf_free(&bytes);
	cache_index_free(&index);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(live_lock(why, live));
	OK(live_unlock(why, live));
	cache_live_counts(live, &counts);
	OK(cache_live_close(why, live));
	return counts.holds;
}

/* Changes a row as another process, before each lock. */
static void change_a_row(const char *path)
{
	uint8_t size;
	int fd;

	if (!is_index(path))
		return;
	size = (uint8_t)++locks;
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, &size, 1, CACHE_INDEX_HEADER + 8), 1);
	(void)close(fd);
}

/* The positions of many rows are computed between two holds of the lock, unless others write all
 * the time. */
TEST(only_many_rows_take_two_holds)
{
	assert_int_equal(holds_of(1), 1);
	assert_int_equal(holds_of(4096), 1);
	assert_int_equal(holds_of(4097), 2);
	locks = 0;
	gate_before_lock = change_a_row;
	assert_int_equal(holds_of(4097), 5);
	gate_before_lock = NULL;
	assert_int_equal(locks, 5);
}

static void assert_mode_of_index(uint32_t before, uint32_t mode, uint32_t after)
{
	char *index = keep(os_join(dir, "index"));
	struct os_stat stat;

	start_anew();
	fill(1, 1);
	OK(os_set_mode(why, dir, mode));
	OK(os_set_mode(why, index, before));
	fill(2, 2);
	OK(os_stat(why, index, &stat));
	assert_int_equal(stat.mode & 0777, after);
}

TEST(an_index_is_writable_for_those_who_read_the_cache)
{
	assert_mode_of_index(0600, 0700, 0600);
	assert_mode_of_index(0600, 0755, 0666);
	assert_mode_of_index(0644, 0755, 0666);
	assert_mode_of_index(0600, 0750, 0660);
	assert_mode_of_index(0666, 0755, 0666);
	assert_mode_of_index(0600, 0744, 0600);
}

/* ---- a repair beside others */

static enum { GROW, TEAR, RIGHT } meanwhile;

/* Before the second hold, another process replaces the file of entry 1, and writes to the index. */
static void replace_meanwhile(const char *path)
{
	struct entries_entry entry;
	struct cache_index index;
	struct buf bytes = {0};
	char *file;

	if (!is_index(path) || ++locks != 2)
		return;
	entries_make(&entry, 1, meanwhile == GROW ? 64 : 0);
	file = keep(cache_entry_path(dir, entry.key));
	OK(os_write_atomic(why, file, entry.bytes, entry.size - (meanwhile == TEAR ? 1 : 0)));
	OK(cache_index_load(why, dir, &index));
	if (meanwhile == RIGHT)
		index.rows[0].size_bytes = entry.row_bytes;
	else
		index.rows[0].size_bytes++;
	bytes = index_bytes(&index);
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
		OK(cache_index_load(why, dir, &index));
		index.rows[0].size_bytes += 5;
		bytes = index_bytes(&index);
		write_index(bytes.data, bytes.size);
		buf_free(&bytes);
		cache_index_free(&index);
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		locks = 0;
		gate_before_lock = replace_meanwhile;
		OK(cache_repair(why, live));
		gate_before_lock = NULL;
		cache_live_counts(live, &counts);
		OK(cache_live_close(why, live));
		OK(cache_index_load(why, dir, &index));
		assert_int_equal(index.count, 2);
		assert_int_equal(index.rows[0].size_bytes, meanwhile == GROW   ? entry.row_bytes + 64
												   : meanwhile == TEAR ? entry.row_bytes + 6
																	   : entry.row_bytes);
		assert_int_equal(counts.mended, meanwhile == GROW);
		cache_index_free(&index);
	}
}

/* ---- failing calls */

TEST(an_entry_that_cannot_be_moved_is_not_counted)
{
	struct cache_live *live;
	enum cache_added added;

	start_anew();
	fill(1, 1);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	rename_fails = true;
	assert_int_equal(insert_one(why, live, 2, 0, &added), -1);
	rename_fails = false;
	assert_int_equal(why->code, JW_ERR_IO);
	assert_int_equal(added, CACHE_ADDED_NOT);
	OK(cache_live_close(why, live));
	assert_consistent(1);
}

TEST(what_cannot_be_evicted_makes_no_room)
{
	struct entries_entry entry;
	struct cache_live_counts counts;
	struct cache_live *live;

	entries_make(&entry, 1, 0);
	start_anew();
	fill(1, 2);
	live = open_live(2 * entry.row_bytes, CACHE_FULL_EVICT);
	gate_removal_fails = true;
	assert_int_equal(insert_one(why, live, 3, 0, NULL), -1);
	gate_removal_fails = false;
	assert_int_equal(why->code, JW_ERR_IO);
	cache_live_counts(live, &counts);
	assert_int_equal(counts.evicted, 0);
	OK(cache_live_close(why, live));
	assert_consistent(2);
}

TEST(what_cannot_be_removed_stays_counted)
{
	struct cache_removal removals[2] = {{.key = key_of(1)}, {.key = key_of(2)}};
	struct cache_live *live;

	start_anew();
	fill(1, 2);
	for (size_t i = 0; i < 2; i++)
		(void)cache_presence(dir, removals[i].key, 0, &removals[i].probed);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	gate_removal_fails = true;
	assert_int_equal(cache_remove(why, live, removals, 2), -1);
	gate_removal_fails = false;
	assert_int_equal(why->code, JW_ERR_IO);
	assert_int_equal(removals[0].removed, CACHE_REMOVED_NOT);
	assert_int_equal(removals[1].removed, CACHE_REMOVED_NOT);
	assert_consistent(2);
	OK(cache_remove(why, live, removals, 2));
	OK(cache_live_close(why, live));
	assert_consistent(0);
}

/* The limit itself holds one entry of that size. */
TEST(an_entry_may_fill_the_limit)
{
	struct entries_entry entry;
	struct cache_live *live;

	entries_make(&entry, 1, 0);
	start_anew();
	live = open_live(entry.row_bytes - 1, CACHE_FULL_EVICT);
	assert_int_equal(insert_one(NULL, live, 1, 0, NULL), -1);
	OK(cache_live_close(why, live));
	live = open_live(entry.row_bytes, CACHE_FULL_EVICT);
	OK(insert_one(why, live, 1, 0, NULL));
	OK(cache_live_close(why, live));
	assert_consistent(1);
}

TEST(files_are_closed_and_nothing_is_left)
{
	char *left = keep(os_join(folder, "left"));
	struct cache_live *live;
	struct os_names names;
	size_t before;

	start_anew();
	fill(1, 2);
	before = open_files();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	for (unsigned n = 0; n < 8; n++) {
		struct entries_entry entry;
		struct cache_addition addition;

		/* entries: the same, another, a new one, a refused one */
		entries_make(&entry, n % 4 == 2 ? n : 1, n % 4 == 1 ? n : 0);
		addition = addition_of(&entry);
		addition.path = left;
		if (n % 4 == 3)
			entry.bytes[entry.size - 1] ^= 1;
		OK(os_write_atomic(why, left, entry.bytes, entry.size));
		OK(cache_insert(why, live, &addition, 1));
		assert_int_equal(addition.added == CACHE_ADDED_REFUSED, n % 4 == 3);
		assert_true(os_exists(left));
		assert_int_equal(open_files(), before + (n > 0)); /* with the lock of the staged files */
		assert_int_equal(cache_presence(dir, entry.key, 0, NULL), CACHE_PRESENT);
		assert_int_equal(open_files(), before + (n > 0));
	}
	OK(cache_live_close(why, live));
	assert_int_equal(open_files(), before);
	OK(os_list(why, dir, &names));
	for (size_t i = 0; i < names.count; i++)
		assert_true(strncmp(names.items[i], CACHE_STAGING_PREFIX, 9) != 0);
	os_names_free(&names);
}

RUN_TESTS(make_folder, remove_folder)
