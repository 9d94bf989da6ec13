/* The ledger's marks: entries that are not the driver's own, until they are compiled again. */
#include "folder.h"

#include <string.h>

#include "entries.h"
#include "lacking.h"
#include "packs.h"
#include "state/ledger.h"

static const char stamp_old[] = "Jun 25 202401:14:48", stamp_now[] = "Apr  8 202512:10:18";

static char *cache;

static uint64_t put_entry(unsigned n, size_t padding, uint64_t *ret_checksum)
{
	struct entries_entry entry;

	entries_make(&entry, n, padding);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	*ret_checksum = load_u64(entry.bytes + 20);
	return entry.key;
}

static void change(const struct ledger_new_mark *marks, size_t mark_count, const uint64_t *cleared,
				   size_t cleared_count)
{
	const struct ledger_change what = {marks, mark_count, cleared, cleared_count};
	struct jw_error err = {0};

	if (ledger_change_marks(&err, folder, cache, &what))
		fail_msg("%s", err.message);
}

static size_t count_marked(void)
{
	struct ledger ledger;
	size_t count;

	ledger_open(&ledger, folder, cache);
	count = ledger_count_marked(&ledger, cache);
	ledger_close(&ledger);
	return count;
}

static void forget(void)
{
	char *path = ledger_file(NULL, folder, cache);

	if (os_exists(path))
		assert_int_equal(os_remove(NULL, path), 0);
	mem_free(path);
}

TEST(a_mark_holds_as_long_as_its_value)
{
	struct ledger_new_mark carried[2] = {{.stamp = stamp_old}, {.stamp = stamp_old}};
	uint64_t checksum;

	forget();
	for (unsigned i = 0; i < 2; i++)
		carried[i].key = put_entry(i, 10, &carried[i].checksum);
	change(carried, 2, NULL, 0);
	assert_int_equal(count_marked(), 2);
	/* Another value: the entry was compiled again. */
	(void)put_entry(0, 11, &checksum);
	assert_int_equal(count_marked(), 1);
	/* Cleared, as after compiling to the same bytes; a second time changes nothing. */
	change(NULL, 0, &carried[1].key, 1);
	change(NULL, 0, &carried[1].key, 1);
	assert_int_equal(count_marked(), 0);
	/* A new mark replaces an old one. */
	carried[0].checksum = checksum;
	change(carried, 1, NULL, 0);
	assert_int_equal(count_marked(), 1);
	/* No entry, no mark. */
	assert_int_equal(os_remove_tree(NULL, cache), 0);
	assert_int_equal(count_marked(), 0);
}

/* A ledger's bytes: a stamp, a record, and these behind them. */
static struct buf ledger_with(const void *marks, size_t size)
{
	static const uint8_t rest[172];
	struct buf bytes = BUF_MAX(1 << 20);
	uint8_t sum[8];

	assert_int_equal(buf_append(NULL, &bytes, "JWLED\0\2\0\1\0\0\0\1\0\0\0", 16), 0);
	assert_int_equal(buf_append(NULL, &bytes, rest, sizeof rest), 0);
	assert_int_equal(buf_append(NULL, &bytes, stamp_old, CACHE_STAMP_SIZE), 0);
	assert_int_equal(buf_append(NULL, &bytes, "place..1key....1\0\0\0\0\0\0\0\0", 24), 0);
	assert_int_equal(buf_append(NULL, &bytes, marks, size), 0);
	store_u64(sum, fnv_update(FNV_START, bytes.data, bytes.size));
	assert_int_equal(buf_append(NULL, &bytes, sum, sizeof sum), 0);
	return bytes;
}

/* A ledger from before there were marks. */
TEST(a_ledger_without_marks_is_read)
{
	struct ledger ledger = {0}, again = {0};
	struct buf bytes = ledger_with("", 0);
	char *path = ledger_file(NULL, folder, cache);
	const struct ledger_new_mark carried = {1, 2, stamp_now};

	assert_int_equal(os_write_atomic(NULL, path, bytes.data, bytes.size), 0);
	ledger_open(&ledger, folder, cache);
	assert_int_equal(ledger.records.count, 1);
	assert_int_equal(ledger.marks.count, 0);
	/* Without marks it is written in the old form. */
	assert_int_equal(ledger_write(NULL, &ledger, path), 0);
	ledger_close(&ledger);
	{
		struct buf written = {0};

		assert_int_equal(os_read_file(NULL, path, 1 << 20, &written), 0);
		assert_int_equal(written.size, bytes.size);
		assert_memory_equal(written.data, bytes.data, bytes.size);
		buf_free(&written);
	}
	/* The records stay readable, also for readers that know no marks: marks follow the records. */
	change(&carried, 1, NULL, 0);
	ledger_open(&again, folder, cache);
	assert_int_equal(again.records.count, 1);
	assert_int_equal(again.marks.count, 1);
	assert_int_equal(again.stamp_count, 2);
	assert_string_equal(again.stamps[0], stamp_old);
	assert_string_equal(ledger_mark_stamp(&again, &again.marks.items[0]), stamp_now);
	ledger_close(&again);
	buf_free(&bytes);
	mem_free(path);
}

/* No more than it holds is read of any, and nothing behind what is too much. */
TEST(a_count_that_is_too_large_ends_a_ledger)
{
	enum { MARK = 20 };
	uint8_t marks[3][4 + 4 + MARK] = {{0}};
	static const size_t sizes[] = {4 + MARK, 4 + MARK, sizeof marks[2]};
	static const size_t read[] = {1, 0, 0};

	for (size_t i = 0; i < 3; i++) {
		const size_t at = sizes[i] - MARK;
		struct ledger ledger = {0};
		struct buf bytes;

		/* One; one, and said to be too many; too many, then one of the next kind */
		store_u32(marks[i], i ? LEDGER_MOST_MARKS + 1 : 1);
		store_u32(marks[i] + at - 4, i == 1 ? LEDGER_MOST_MARKS + 1 : 1);
		store_u64(marks[i] + at, 77);
		store_u32(marks[i] + at + 16, LEDGER_NO_STAMP);
		bytes = ledger_with(marks[i], sizes[i]);
		ledger_parse(&ledger, bytes.data, bytes.size);
		assert_int_equal(ledger.records.count, 1);
		assert_int_equal(ledger.marks.count, read[i]);
		assert_false(ledger.partial);
		ledger_close(&ledger);
		buf_free(&bytes);
	}
}

static int set_up(void **state)
{
	int result = make_folder(state);

	cache = result ? NULL : os_join(NULL, folder, "cache");
	return cache ? 0 : -1;
}

static int format_anew(struct jw_error *err, const struct ledger *ledger)
{
	struct buf bytes = BUF_MAX(LEDGER_MOST_BYTES);
	int result = ledger_format(err, ledger, &bytes);

	buf_free(&bytes);
	return result;
}

/* Stamps, records and marks: each part outgrows the memory of the parts before it. */
TEST(a_part_that_memory_lacks_for_is_not_left_out)
{
	static struct ledger ledger;
	static struct ledger_item records[2000];
	static struct ledger_item marks[4000];

	ledger = (struct ledger){.stamp_count = LEDGER_MOST_STAMPS};
	ledger.records =
		(struct ledger_list){.items = records, .count = sizeof records / sizeof *records};
	ledger.marks = (struct ledger_list){.items = marks, .count = sizeof marks / sizeof *marks};
	STARVE(format_anew(&err, &ledger), (void)0);
}

TEST(what_memory_lacks_for_is_not_added)
{
	static const struct ledger_item record = {.name = 7, .value = 8};
	static const struct ledger_item mark = {.name = 9};
	struct ledger ledger = {0};

	STARVE(ledger_put(&err, &ledger.records, LEDGER_MOST_RECORDS, &record),
		   assert_int_equal(ledger.records.count, 1));
	STARVE(ledger_put(&err, &ledger.marks, LEDGER_MOST_MARKS, &mark),
		   assert_int_equal(ledger.marks.count, 1));
	assert_non_null(ledger_item(&ledger.records, 7));
	assert_non_null(ledger_item(&ledger.marks, 9));
	ledger_close(&ledger);
}

static int tear_down(void **state)
{
	mem_free(cache);
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
