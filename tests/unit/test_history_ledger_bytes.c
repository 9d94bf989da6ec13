/* A ledger's bytes: which are believed, and what becomes of those that are not read. */
#include "folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "state/ledger.h"

/* Each takes a moment on a busy disk. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return 0;
}

enum { HEAD = 188, RECORD = 24, MARK = 20, SUM = 8 };
enum { STAMPS_AT = 8, RECORDS_AT = 12, RESERVED_AT = 16, FIRST = HEAD };

static const char stamp[] = "Apr  8 202512:10:18";

/* Two stamps, two records, a mark; everything has another value. */
static struct ledger *make_ledger(void)
{
	static struct ledger ledger;
	const struct ledger_item mark = {.name = 70, .value = 71, .stamp = 1};

	ledger = (struct ledger){0};
	assert_int_equal(ledger_stamp_number(&ledger, stamp), 0);
	assert_int_equal(ledger_stamp_number(&ledger, "Jun 25 202401:14:48"), 1);
	for (uint8_t i = 0; i < 2; i++) {
		const struct ledger_item record = {50 + i, 60 + i, i};

		assert_int_equal(ledger_put(NULL, &ledger.records, LEDGER_MOST_RECORDS, &record), 0);
	}
	assert_int_equal(ledger_put(NULL, &ledger.marks, LEDGER_MOST_MARKS, &mark), 0);
	return &ledger;
}

static struct buf make_bytes_of(struct ledger *ledger)
{
	struct buf bytes = BUF_MAX(1 << 20);

	assert_int_equal(ledger_format(NULL, ledger, &bytes), 0);
	ledger_close(ledger);
	return bytes;
}

static void sum_up(struct buf *bytes)
{
	store_u64(bytes->data + bytes->size - SUM,
			  fnv_update(FNV_START, bytes->data, bytes->size - SUM));
}

TEST(what_is_written_is_read)
{
	struct buf bytes = make_bytes_of(make_ledger()), again = BUF_MAX(1 << 20);
	struct ledger ledger = {0};

	assert_int_equal(bytes.size, HEAD + 2 * CACHE_STAMP_SIZE + 2 * RECORD + 4 + MARK + SUM);
	ledger_parse(&ledger, bytes.data, bytes.size);
	assert_int_equal(ledger.stamp_count, 2);
	assert_int_equal(ledger.records.count, 2);
	assert_int_equal(ledger_item(&ledger.records, 51)->value, 61);
	assert_int_equal(ledger_item(&ledger.records, 51)->stamp, 1);
	assert_null(ledger_item(&ledger.records, 52));
	assert_false(ledger.partial);
	assert_int_equal(ledger_format(NULL, &ledger, &again), 0);
	assert_int_equal(again.size, bytes.size);
	assert_memory_equal(again.data, bytes.data, bytes.size);
	ledger_close(&ledger);
	/* Each part that finds no room is said to be missing. */
	for (size_t most = 0; most <= bytes.size; most++) {
		struct ledger *whole = make_ledger();

		buf_free(&again);
		again = BUF_MAX(most);
		assert_int_equal(ledger_format(NULL, whole, &again), most < bytes.size ? -1 : 0);
		ledger_close(whole);
	}
	buf_free(&bytes);
	buf_free(&again);
}

/* Where a byte is another one, what is left of stamps, records and marks. */
TEST(only_sound_parts_are_believed)
{
	enum { RECORDS = FIRST + 2 * CACHE_STAMP_SIZE, MARKS = RECORDS + 2 * RECORD };
	static const struct {
		size_t at;
		uint8_t value;
		bool no_sum;
		size_t stamps, records, marks;
	} cases[] = {
		{0, 'J', false, 2, 2, 1},
		{0, 'K', false, 0, 0, 0},
		{0, 'K', true, 0, 0, 0},
		{6, 3, false, 0, 0, 0},
		{RESERVED_AT, 1, true, 0, 0, 0},
		{STAMPS_AT, LEDGER_MOST_STAMPS + 1, false, 0, 0, 0},
		{RECORDS_AT + 3, 1, false, 0, 0, 0},
		/* What former versions kept there */
		{RESERVED_AT, 9, false, 2, 2, 1},
		/* A stamp that is none */
		{FIRST, 'a', false, 1, 0, 0},
		{FIRST + CACHE_STAMP_SIZE, 'a', false, 2, 0, 0},
		/* The second record: of a stamp that there is, of one more, in the first one's place */
		{RECORDS + RECORD + 16, 0, false, 2, 2, 1},
		{RECORDS + RECORD + 16, 2, false, 2, 1, 0},
		{RECORDS + RECORD + 17, 1, false, 2, 1, 0},
		{RECORDS + RECORD, 50, false, 2, 1, 0},
		/* More records than there are bytes */
		{RECORDS_AT, 200, false, 2, 2, 0},
		/* Marks: of a stamp that there is, of one more; more than there are */
		{MARKS + 4 + 16, 0, false, 2, 2, 1},
		{MARKS + 4 + 16, 2, false, 2, 2, 0},
		{MARKS, 2, false, 2, 2, 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf bytes = make_bytes_of(make_ledger());
		struct ledger ledger = {0};

		bytes.data[cases[i].at] = cases[i].value;
		if (!cases[i].no_sum)
			sum_up(&bytes);
		ledger_parse(&ledger, bytes.data, bytes.size);
		if (ledger.stamp_count != cases[i].stamps ||
			(ledger.records.count != cases[i].records && cases[i].value != 200) ||
			ledger.marks.count != cases[i].marks || ledger.partial)
			fail_msg("%zu: %zu stamps, %zu records, %zu marks", i, ledger.stamp_count,
					 ledger.records.count, ledger.marks.count);
		ledger_close(&ledger);
		buf_free(&bytes);
	}
}

/* Those of former versions: their records and marks count, the rest does not. */
TEST(a_ledger_of_before_is_read)
{
	struct buf bytes = make_bytes_of(make_ledger());
	struct ledger ledger = {0};

	memset(bytes.data + RESERVED_AT, 5, FIRST - RESERVED_AT);
	store_u32(bytes.data + FIRST + 2 * CACHE_STAMP_SIZE + RECORD - 4, 7);
	sum_up(&bytes);
	ledger_parse(&ledger, bytes.data, bytes.size);
	assert_int_equal(ledger.records.count, 2);
	assert_int_equal(ledger.marks.count, 1);
	ledger_close(&ledger);
	/* Without stamps and records it ends behind its head */
	bytes.size = HEAD + SUM;
	memset(bytes.data + STAMPS_AT, 0, 8);
	sum_up(&bytes);
	ledger_parse(&ledger, bytes.data, bytes.size);
	assert_int_equal(ledger.records.count + ledger.stamp_count + ledger.marks.count, 0);
	buf_free(&bytes);
}

TEST(there_are_numbers_for_so_many_stamps)
{
	static struct ledger ledger;
	char text[CACHE_STAMP_SIZE + 1];

	for (unsigned i = 0; i <= LEDGER_MOST_STAMPS; i++) {
		(void)snprintf(text, sizeof text, "Jan  1 20%02u00:00:00", i);
		assert_int_equal(ledger_stamp_number(&ledger, text), i);
		assert_int_equal(ledger.stamp_count, i < LEDGER_MOST_STAMPS ? i + 1 : LEDGER_MOST_STAMPS);
		assert_int_equal(ledger_mark_number(&ledger, text),
						 i < LEDGER_MOST_STAMPS ? i : LEDGER_NO_STAMP);
		assert_int_equal(ledger_stamp_number(&ledger, ledger.stamps[0]), 0);
	}
	assert_int_equal(ledger_mark_number(&ledger, NULL), LEDGER_NO_STAMP);
	assert_int_equal(ledger_mark_number(&ledger, ""), LEDGER_NO_STAMP);
	for (uint32_t i = 0; i < 2; i++) {
		const struct ledger_item mark = {.stamp = LEDGER_MOST_STAMPS - 1 + i};

		assert_string_equal(ledger_mark_stamp(&ledger, &mark),
							i ? "" : ledger.stamps[LEDGER_MOST_STAMPS - 1]);
	}
}

static uint64_t inode_of(const char *file)
{
	struct os_stat stat = {.inode = 0};

	return os_stat(NULL, file, &stat) ? 0 : stat.inode;
}

/* What memory was too short to read is not written over. */
TEST(what_cannot_be_read_stays)
{
	struct ledger *whole = make_ledger(), ledger = {0};
	char *path = ledger_file(NULL, folder, "cache");
	struct jw_error err = {0};
	uint64_t first;

	ledger_read(&ledger, path);
	assert_false(ledger.partial);
	whole->records.count--;
	assert_int_equal(ledger_write(NULL, whole, path), 0);
	ledger_close(whole);
	first = inode_of(path);
	for (size_t n = 1, left = 0; !left; n++) {
		mem_fail_after(n);
		ledger_read(&ledger, path);
		left = mem_fail_after(0);
		assert_int_equal(ledger.partial, !left);
		/* Nothing behind what is missing */
		if (!ledger.records.count)
			assert_int_equal(ledger.marks.count, 0);
		if (ledger_write(&err, &ledger, path))
			assert_int_equal(err.code, JW_ERR_IO);
		else
			assert_true(left != 0);
		assert_true((inode_of(path) == first) == !left);
		ledger_close(&ledger);
	}
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
