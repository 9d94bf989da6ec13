/* A ledger's bytes: written marks are read, and each unread part has a defined fate.
 * test_changed_documents.c tests which ledgers are believed. */
#include "folder.h"

#include <string.h>

#include "base/hash.h"
#include "pack/ledger.h"

enum { HEAD = 12, MARK = 20, SUM = 8, VERSION_AT = 6, NUMBER_AT = 8 };

/* Makes marks of both kinds; every value is different. */
static struct ledger *make_ledger(void)
{
	static struct ledger ledger;
	static const struct ledger_item marks[] = {{70, 218, LEDGER_REFUSED}, {50, 60, LEDGER_USED}};

	ledger = (struct ledger){0};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		OK(ledger_put(why, &ledger.marks, LEDGER_MAX_MARKS, &marks[i]));
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

static size_t marks_in(const struct buf *bytes)
{
	struct ledger ledger = {0};
	size_t count;

	ledger_parse(&ledger, bytes->data, bytes->size);
	count = ledger.marks.count;
	ledger_close(&ledger);
	return count;
}

TEST(what_is_written_is_read)
{
	struct buf bytes = make_bytes_of(make_ledger()), again = BUF_MAX(1 << 20);
	struct ledger ledger = {0};

	assert_int_equal(bytes.size, HEAD + 2 * MARK + SUM);
	ledger_parse(&ledger, bytes.data, bytes.size);
	assert_int_equal(ledger.marks.count, 2);
	assert_int_equal(ledger_item(&ledger.marks, 50)->value, 60);
	assert_int_equal(ledger_item(&ledger.marks, 50)->kind, LEDGER_USED);
	assert_null(ledger_item(&ledger.marks, 52));
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

/* A result that says nothing about the module counts as none, and so do marks of unknown kinds. */
TEST(what_the_driver_refuses_is_a_mark)
{
	static const struct {
		uint64_t value;
		uint32_t kind;
		unsigned result;
		size_t marks;
	} cases[] = {
		{218, LEDGER_REFUSED, 218, 2},
		{222, LEDGER_REFUSED, 222, 2},
		{2, LEDGER_REFUSED, 0, 2},
		{UINT64_C(218) << 32 | 1, LEDGER_REFUSED, 0, 2},
		{UINT64_C(1) << 32 | 218, LEDGER_REFUSED, 0, 2},
		{218, LEDGER_USED, 0, 2},
		{218, UINT32_MAX, 0, 1},
		{218, UINT32_MAX - 1, 0, 1},
		{218, 1, 0, 1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ledger *whole = make_ledger(), ledger = {0};
		const struct ledger_item mark = {.name = 90, .value = cases[i].value, cases[i].kind};
		const struct ledger_item last = {.name = 95, .value = 222, .kind = LEDGER_REFUSED};
		struct buf bytes;

		OK(ledger_put(why, &whole->marks, LEDGER_MAX_MARKS, &mark));
		OK(ledger_put(why, &whole->marks, LEDGER_MAX_MARKS, &last));
		bytes = make_bytes_of(whole);
		ledger_parse(&ledger, bytes.data, bytes.size);
		assert_int_equal(ledger.marks.count, 2 + cases[i].marks);
		assert_int_equal(ledger_refused(&ledger, 95), 222);
		assert_int_equal(ledger_refused(&ledger, 90), cases[i].result);
		assert_int_equal(ledger_refused(&ledger, 91), 0);
		assert_int_equal(ledger_refused(&ledger, 0), 0);
		ledger_close(&ledger);
		buf_free(&bytes);
	}
}

/* Bytes of another version, with another number of marks, or without their sum are no ledger. */
TEST(foreign_bytes_are_empty)
{
	struct buf bytes = make_bytes_of(make_ledger());

	assert_int_equal(marks_in(&bytes), 2);
	for (int number = 0; number <= 3; number++) {
		store_u32(bytes.data + NUMBER_AT, (uint32_t)number);
		sum_up(&bytes);
		assert_int_equal(marks_in(&bytes), number == 2 ? 2 : 0);
	}
	store_u32(bytes.data + NUMBER_AT, 2);
	for (uint8_t version = 0; version < 5; version++) {
		bytes.data[VERSION_AT] = version;
		sum_up(&bytes);
		assert_int_equal(marks_in(&bytes), version == 3 ? 2 : 0);
	}
	bytes.data[VERSION_AT] = 3;
	sum_up(&bytes);
	for (size_t i = 0; i < bytes.size; i++) {
		bytes.data[i] ^= 1;
		assert_int_equal(marks_in(&bytes), 0);
		bytes.data[i] ^= 1;
	}
	while (bytes.size--)
		assert_int_equal(marks_in(&bytes), 0);
	buf_free(&bytes);
}

static int format_anew(struct jw_error *err, const struct ledger *ledger)
{
	struct buf bytes = BUF_MAX(LEDGER_MAX_BYTES);
	int result = ledger_format(err, ledger, &bytes);

	buf_free(&bytes);
	return result;
}

/* The file holds as many marks as are kept. */
TEST(the_most_marks_fit)
{
	static struct ledger_item marks[LEDGER_MAX_MARKS];
	const struct ledger ledger = {.marks = {.items = marks, .count = LEDGER_MAX_MARKS}};

	OK(format_anew(why, &ledger));
}

RUN_TESTS(make_folder, remove_folder)
