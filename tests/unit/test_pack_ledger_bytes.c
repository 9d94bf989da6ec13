/* A ledger's bytes: written parts are read, parts without memory are not left out, and each unread
 * part has a defined fate. test_changed_documents.c tests which ledgers are believed. */
#include "folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "pack/ledger.h"

/* A real sync takes a moment on a busy disk. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	(void)fd;
	return 0;
}

enum { HEAD = 188, RECORD = 24, MARK = 20, SUM = 8 };
enum { STAMPS_AT = 8, RECORDS_AT = 12, RESERVED_AT = 16, FIRST = HEAD };

static const char stamp[] = "Apr  8 202512:10:18";

/* Makes two stamps, two records and a mark; every value is different. */
static struct ledger *make_ledger(void)
{
	static struct ledger ledger;
	const struct ledger_item mark = {.name = 70, .value = 218, .stamp = LEDGER_REFUSED};

	ledger = (struct ledger){0};
	assert_int_equal(ledger_stamp_number(&ledger, stamp), 0);
	assert_int_equal(ledger_stamp_number(&ledger, "Jun 25 202401:14:48"), 1);
	for (uint8_t i = 0; i < 2; i++) {
		const struct ledger_item record = {50 + i, 60 + i, i};

		OK(ledger_put(why, &ledger.records, LEDGER_MAX_RECORDS, &record));
	}
	OK(ledger_put(why, &ledger.marks, LEDGER_MAX_MARKS, &mark));
	return &ledger;
}

static struct buf make_bytes_of(struct ledger *ledger)
{
	struct buf bytes = BUF_MAX(1 << 20);

	OK(ledger_format(why, ledger, &bytes));
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
	OK(ledger_format(why, &ledger, &again));
	assert_int_equal(again.size, bytes.size);
	assert_memory_equal(again.data, bytes.data, bytes.size);
	ledger_close(&ledger);
	/* Each part that does not fit is reported as missing. */
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

/* A result that says nothing about the module counts as none, and so do marks of former versions,
 * whose last number is a driver's, or missing. */
TEST(what_the_driver_refuses_is_a_mark)
{
	static const struct {
		uint64_t value;
		uint32_t stamp;
		unsigned result;
		size_t marks;
	} cases[] = {
		{218, LEDGER_REFUSED, 218, 2},
		{222, LEDGER_REFUSED, 222, 2},
		{2, LEDGER_REFUSED, 0, 2},
		{UINT64_C(218) << 32 | 1, LEDGER_REFUSED, 0, 2},
		{UINT64_C(1) << 32 | 218, LEDGER_REFUSED, 0, 2},
		{218, UINT32_MAX, 0, 1},
		{218, UINT32_MAX - 1, 0, 1},
		{218, 1, 0, 1},
		{218, 7, 0, 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ledger *whole = make_ledger(), ledger = {0};
		const struct ledger_item mark = {.name = 90, .value = cases[i].value, cases[i].stamp};
		const struct ledger_item last = {.name = 95, .value = 222, .stamp = LEDGER_REFUSED};
		struct buf bytes;

		OK(ledger_put(why, &whole->marks, LEDGER_MAX_MARKS, &mark));
		OK(ledger_put(why, &whole->marks, LEDGER_MAX_MARKS, &last));
		bytes = make_bytes_of(whole);
		ledger_parse(&ledger, bytes.data, bytes.size);
		assert_int_equal(ledger.marks.count, 1 + cases[i].marks);
		assert_int_equal(ledger_refused(&ledger, 95), 222);
		assert_int_equal(ledger_refused(&ledger, 90), cases[i].result);
		assert_int_equal(ledger_refused(&ledger, 91), 0);
		assert_int_equal(ledger_refused(&ledger, 0), 0);
		ledger_close(&ledger);
		buf_free(&bytes);
	}
}

/* A ledger of a former version is read: its records and marks count, other parts do not. */
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
	/* Without stamps and records, the ledger ends after its head. */
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

	for (unsigned i = 0; i <= LEDGER_MAX_STAMPS; i++) {
		(void)snprintf(text, sizeof text, "Jan  1 20%02u00:00:00", i);
		assert_int_equal(ledger_stamp_number(&ledger, text), i);
		assert_int_equal(ledger.stamp_count, i < LEDGER_MAX_STAMPS ? i + 1 : LEDGER_MAX_STAMPS);
		assert_int_equal(ledger_stamp_number(&ledger, ledger.stamps[0]), 0);
	}
}

static int format_anew(struct jw_error *err, const struct ledger *ledger)
{
	struct buf bytes = BUF_MAX(LEDGER_MAX_BYTES);
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

	ledger = (struct ledger){.stamp_count = LEDGER_MAX_STAMPS};
	ledger.records =
		(struct ledger_list){.items = records, .count = sizeof records / sizeof *records};
	ledger.marks = (struct ledger_list){.items = marks, .count = sizeof marks / sizeof *marks};
	OK(format_anew(why, &ledger));
}

TEST(what_memory_lacks_for_is_not_added)
{
	static const struct ledger_item record = {.name = 7, .value = 8};
	static const struct ledger_item mark = {.name = 9};
	struct ledger ledger = {0};

	OK(ledger_put(why, &ledger.records, LEDGER_MAX_RECORDS, &record));
	assert_int_equal(ledger.records.count, 1);
	OK(ledger_put(why, &ledger.marks, LEDGER_MAX_MARKS, &mark));
	assert_int_equal(ledger.marks.count, 1);
	assert_non_null(ledger_item(&ledger.records, 7));
	assert_non_null(ledger_item(&ledger.marks, 9));
	ledger_close(&ledger);
}

RUN_TESTS(make_folder, remove_folder)
