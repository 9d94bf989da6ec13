/* The rows of the index from one hold of the lock to the next, while other processes write to it:
 * the file always equals a plain list. */
#include "folder.h"

#include <string.h>

#include "cache/live.h"
#include "entries.h"
#include "index_bytes.h"

enum { MOST = 12000, ROUNDS = 400, LIMIT = 1 << 30 };
enum { ROWS = MOST / EACH_TRIAL }; /* more than one hold of the lock handles */

static struct cache_row expected[MOST];
static size_t count;
static char *dir;
static uint64_t seed = 1;

static unsigned below(unsigned most)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % most;
}

static struct cache_live *open_live(const char *name)
{
	static const struct cache_live_options how = {.limit_bytes = LIMIT,
												  .when_full = CACHE_FULL_EVICT};
	struct cache_live *live = NULL;

	dir = keep(os_join(folder, name));
	OK(cache_live_open(why, dir, &how, &live));
	return live;
}

/* Writes like a driver, which never shortens the file. */
static void write_as_another(void)
{
	struct cache_index index = {.rows = expected, .count = count};
	struct os_file *file = NULL;
	struct buf bytes = {0};

	OK(os_make_dirs(why, dir, 0700));
	OK(os_file_open(why, keep(os_join(dir, "index")), OS_OPEN_CREATE, &file));
	bytes = index_bytes(&index);
	OK(os_file_write(why, file, 0, bytes.data, bytes.size));
	os_file_close(file);
	buf_free(&bytes);
}

static void assert_file(void)
{
	struct cache_index index;

	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.state, CACHE_INDEX_SOUND);
	assert_int_equal(index.count, count);
	assert_int_equal(index.total_bytes, cache_index_rows_total(&index));
	if (count)
		assert_memory_equal(index.rows, expected, count * sizeof *expected);
	cache_index_free(&index);
}

static size_t expected_at(uint64_t key)
{
	size_t at = 0;

	while (at < count && expected[at].key != key)
		at++;
	return at;
}

static void drop_expected(size_t at)
{
	memmove(expected + at, expected + at + 1, (--count - at) * sizeof *expected);
}

static void put_expected(uint64_t key, uint64_t row_bytes)
{
	size_t at = expected_at(key);

	if (at < count)
		drop_expected(at);
	expected[count++] = (struct cache_row){key, row_bytes};
}

static void write_rows(size_t rows)
{
	for (count = 0; count < rows; count++)
		expected[count] = (struct cache_row){count + 1, 7};
	write_as_another();
}

static void lock_with_one_row(struct cache_live *live)
{
	write_rows(1);
	OK(live_lock(why, live));
}

/* Makes one change under the lock, in the list and in the rows. */
static void change(struct cache_live *live)
{
	uint64_t key = 1 + below(MOST / 4), row_bytes = 1 + below(1000);
	size_t row;

	switch (below(4)) {
	case 0:
		if (count) {
			key = expected[below(4) ? 0 : below((unsigned)count)].key;
			row = live_row(live, key);
			assert_int_not_equal(row, SET_NONE);
			live_drop_row(live, row);
			drop_expected(expected_at(key));
		}
		break;
	case 1:
		row = live_row(live, key);
		assert_int_equal(row == SET_NONE, expected_at(key) == count);
		if (row != SET_NONE) {
			live_resize_row(live, row, row_bytes);
			expected[expected_at(key)].size_bytes = row_bytes;
		}
		break;
	default: OK(live_put_row(why, live, key, row_bytes)); put_expected(key, row_bytes);
	}
}

/* Evicts from the front and adds at the end, as another process. */
static void change_as_another(void)
{
	for (unsigned gone = below(5); gone && count; gone--)
		drop_expected(0);
	for (unsigned more = below(5); more; more--)
		put_expected(MOST + below(1000), 1 + below(1000));
	write_as_another();
}

static void change_beside_others(size_t rows)
{
	struct cache_live *live = open_live("beside");

	write_rows(rows);
	for (unsigned round = 0; round < ROUNDS; round += EACH_TRIAL) {
		const bool other = !below(4);

		if (other)
			change_as_another();
		OK(live_lock(why, live));
		for (unsigned changes = below(20); changes; changes--)
			change(live);
		OK(live_unlock(why, live));
		assert_file();
	}
	OK(cache_live_close(why, live));
	OK(os_remove_tree(why, dir));
}

TEST(rows_are_those_of_a_plain_list)
{
	change_beside_others(0);
	change_beside_others(300);
	change_beside_others(6000); /* too many to compute their positions under the lock */
}

/* Removed rows are not kept for ever. */
TEST(rows_that_come_and_go_take_no_more_memory)
{
	struct cache_live *live = open_live("come-and-go");

	count = 0;
	for (unsigned n = 1; n <= MOST / 3; n++) {
		OK(live_lock(why, live));
		OK(live_put_row(why, live, n, 1));
		put_expected(n, 1);
		if (n > 10) {
			live_drop_row(live, live_row(live, n - 10));
			drop_expected(0);
		}
		OK(live_unlock(why, live));
		assert_true(live->index.count < 3000);
	}
	assert_file();
	OK(cache_live_close(why, live));
}

/* The rows of one hold are reused in the next, as long as the file is unchanged. */
TEST(nothing_is_parsed_twice)
{
	struct cache_live *live = open_live("twice");
	const struct cache_row *rows;

	write_rows(6000);
	OK(live_lock(why, live));
	assert_true(live->others);
	OK(live_unlock(why, live));
	rows = live->index.rows;
	OK(live_lock(why, live));
	assert_false(live->others);
	assert_true(live->index.rows == rows);
	OK(live_unlock(why, live));
	put_expected(MOST, 7);
	write_as_another();
	OK(live_lock(why, live));
	assert_true(live->others);
	assert_int_equal(live->index.count, count);
	OK(live_unlock(why, live));
	OK(cache_live_close(why, live));
}

/* Changes of an abandoned hold are dropped. */
TEST(an_abandoned_hold_leaves_nothing)
{
	struct cache_live *live = open_live("abandoned");

	lock_with_one_row(live);
	OK(live_put_row(why, live, 2, 7));
	live_drop_row(live, live_row(live, 1));
	live_abandon(live);
	OK(live_lock(why, live));
	assert_int_equal(live_row(live, 2), SET_NONE);
	assert_int_equal(live_row(live, 1), 0);
	OK(live_unlock(why, live));
	assert_file();
	OK(cache_live_close(why, live));
}

/* An index that has changed is read again; the former rows are not written over it. */
TEST(what_is_read_again_is_unchanged)
{
	struct cache_live *live = open_live("again");

	lock_with_one_row(live);
	OK(live_put_row(why, live, 2, 7));
	put_expected(3, 8);
	write_as_another();
	OK(live_rows_read(why, live));
	OK(live_rows_parse(why, live));
	OK(live_unlock(why, live));
	assert_file();
	OK(cache_live_close(why, live));
}

/* An index may have any rows: several of one key, or keys that were chosen for one place. Neither
 * takes noticeably more time. */
TEST(hostile_rows_are_read_like_others)
{
	enum { MANY = 1 << 19 };
	const uint64_t factors[] = {
		0, UINT64_C(0xf1de83e19937733d)}; /* its product with the set's factor is 1 */
	char *path;

	for (size_t i = 0; i < 2; i++) {
		struct cache_live *live = open_live("hostile");
		struct cache_index index = {.rows = mem_array(MANY, sizeof *index.rows)};
		struct buf bytes;

		assert_non_null(index.rows);
		for (; index.count < MANY; index.count++)
			index.rows[index.count] = (struct cache_row){index.count * factors[i], 0};
		bytes = index_bytes(&index);
		path = keep(os_join(dir, "index"));
		OK(os_make_dirs(why, dir, 0700));
		OK(os_write_atomic(why, path, bytes.data, bytes.size));
		OK(live_lock(why, live));
		assert_int_equal(live_row(live, (MANY - 1) * factors[i]), MANY - 1);
		assert_int_equal(live->rows.gone, factors[i] ? 0 : MANY - 1);
		live_abandon(live);
		OK(cache_live_close(why, live));
		buf_free(&bytes);
		cache_index_free(&index);
	}
}

/* A sound index is not written: the rows of another process, which stay, show it. */
TEST(a_sound_index_is_left_as_it_is)
{
	struct cache_live *live = open_live("as-it-is");

	lock_with_one_row(live);
	put_expected(2, 8);
	write_as_another();
	OK(live_unlock(why, live));
	assert_file();
	OK(cache_live_close(why, live));
}

static void cut_short(void)
{
	struct os_file *file = NULL;

	count = 0;
	write_as_another();
	OK(os_file_open(why, keep(os_join(dir, "index")), OS_OPEN_UPDATE, &file));
	OK(os_file_truncate(why, file, CACHE_INDEX_HEADER));
	os_file_close(file);
}

/* A row that was in the file before is missing after the file was cut. */
TEST(rows_come_back_after_a_cut)
{
	struct cache_live *live = open_live("cut");

	for (unsigned round = 0; round < 4; round++) {
		cut_short();
		OK(live_lock(why, live));
		for (unsigned n = 1; n <= 40; n++) {
			OK(live_put_row(why, live, n, 7));
			put_expected(n, 7);
		}
		OK(live_unlock(why, live));
		assert_file();
	}
	OK(cache_live_close(why, live));
}

/* The limit was lowered, so one entry evicts more rows than one hold of the lock can. */
TEST(an_entry_has_room_made_over_several_holds)
{
	struct cache_live *live = open_live("room");
	struct cache_addition addition = {.sm = 86};
	struct entries_entry entry;
	struct cache_live_counts counts;

	write_rows(ROWS);
	entries_make(&entry, 1, 0);
	addition.bytes = entry.bytes;
	addition.size_bytes = entry.size;
	addition.key = entry.key;
	live->repaired = true; /* rows without files stay */
	live->options.limit_bytes = entry.row_bytes + 3 * 7;
	OK(cache_insert(why, live, &addition, 1));
	assert_int_equal(addition.added, CACHE_ADDED_NEW);
	memmove(expected, expected + ROWS - 3, 3 * sizeof *expected);
	count = 3;
	put_expected(entry.key, entry.row_bytes);
	assert_file();
	cache_live_counts(live, &counts);
	assert_int_equal(counts.evicted, ROWS - 3);
	OK(cache_live_close(why, live));
}

/* One call does the whole repair, however large, and releases the lock in between. */
TEST(a_repair_goes_to_its_end)
{
	struct cache_live *live = open_live("repair");
	struct cache_live_counts counts;

	write_rows(ROWS);
	OK(cache_repair(why, live));
	count = 0;
	assert_file();
	cache_live_counts(live, &counts);
	assert_int_equal(counts.dropped, ROWS);
	assert_true(counts.holds > 1);
	OK(cache_live_close(why, live));
}

/* The index has as many rows as are read, and then one more: it counts as truncated. */
TEST(the_largest_index_is_read)
{
	const size_t most = CACHE_INDEX_HEADER + (size_t)CACHE_MAX_ROWS * CACHE_ROW_SIZE;
	uint8_t *bytes = keep(mem_alloc(most + CACHE_ROW_SIZE));
	struct cache_index index;

	assert_non_null(bytes);
	memset(bytes, 0, most + CACHE_ROW_SIZE);
	store_u32(bytes, CACHE_VERSION);
	store_u32(bytes + 4, CACHE_MAX_ROWS);
	cache_index_parse(bytes, most, &index);
	assert_int_equal(index.state, CACHE_INDEX_SOUND);
	assert_int_equal(index.count, CACHE_MAX_ROWS);
	cache_index_free(&index);
	store_u32(bytes + 4, CACHE_MAX_ROWS + 1);
	cache_index_parse(bytes, most + CACHE_ROW_SIZE, &index);
	assert_int_equal(index.state, CACHE_INDEX_TRUNCATED);
	assert_int_equal(index.count, CACHE_MAX_ROWS);
	cache_index_free(&index);
}

/* One different byte is another version; more is damage, which is repaired. */
TEST(a_version_that_is_not_known_is_left_alone)
{
	static const struct {
		uint32_t first;
		bool known;
	} cases[] = {{CACHE_VERSION + 1, false}, {0xff, false}, {0x100, true}, {0x101, true}};
	const uint8_t entry[] = "an entry";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct cache_live_options how = {.limit_bytes = LIMIT};
		uint8_t header[CACHE_INDEX_HEADER] = {0};
		struct cache_live *live = open_live("version");
		char *path = keep(os_join(dir, "index")), *beside = keep(cache_entry_path(dir, 1));

		OK(cache_live_close(why, live));
		OK(os_make_dirs(why, dir, 0700));
		store_u32(header, cases[i].first);
		OK(os_write_atomic(why, path, header, sizeof header));
		/* Without an entry, the index may be another program's. */
		GIVES(cases[i].known ? JW_ERR_UNSUPPORTED : JW_OK, cache_live_open(why, dir, &how, &live));
		if (!cases[i].known)
			(void)cache_live_close(NULL, live);
		OK(os_make_parent(why, beside, 0700));
		OK(os_write_atomic(why, beside, entry, sizeof entry));
		OK(cache_live_open(why, dir, &how, &live));
		GIVES(cases[i].known ? JW_OK : JW_ERR_UNSUPPORTED, cache_repair(why, live));
		(void)cache_live_close(NULL, live);
		OK(os_remove_tree(why, dir));
	}
}

/* Like a driver, jitwarm reads no bytes after the rows, as many as another account may have added.
 */
TEST(the_bytes_after_the_rows_are_not_read)
{
	const uint64_t most = CACHE_INDEX_HEADER + (uint64_t)CACHE_MAX_ROWS * CACHE_ROW_SIZE;
	const struct cache_live_options how = {.limit_bytes = LIMIT};
	uint8_t header[CACHE_INDEX_HEADER] = {0};
	struct cache_live *live = open_live("larger");
	char *path = keep(os_join(dir, "index"));
	struct cache_index index;
	struct os_file *file;

	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.state, CACHE_INDEX_MISSING);
	OK(os_make_dirs(why, dir, 0700));
	OK(os_file_open(why, path, OS_OPEN_CREATE, &file));
	store_u32(header, CACHE_VERSION);
	OK(os_file_write(why, file, 0, header, sizeof header));
	OK(os_file_truncate(why, file, most + 1));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.state, CACHE_INDEX_SOUND);
	store_u32(header + 4, 1);
	OK(os_file_write(why, file, 0, header, sizeof header));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, 1);
	cache_index_free(&index);
	OK(cache_live_open(why, dir, &how, &live));
	OK(cache_repair(why, live));
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.state, CACHE_INDEX_SOUND);
	assert_int_equal(index.count, 0);
	os_file_close(file);
	OK(os_remove(why, path));
}

RUN_TESTS(make_folder, remove_folder)
