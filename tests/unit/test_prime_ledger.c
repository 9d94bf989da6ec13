/* The ledger's marks: what was carried over, until somebody compiles it again. */
#include "folder.h"

#include <string.h>

#include "cache/entry.h"
#include "entries.h"
#include "packs.h"
#include "prime/ledger.h"

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

static void change(const struct ledger_carried *carried, size_t carried_count,
				   const uint64_t *cleared, size_t cleared_count)
{
	const struct ledger_change what = {carried, carried_count, cleared, cleared_count};
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
	char *path = ledger_file(folder, cache);

	if (os_exists(path))
		assert_int_equal(os_remove(NULL, path), 0);
	mem_free(path);
}

static void a_mark_holds_as_long_as_its_value(void **state)
{
	struct ledger_carried carried[2] = {{.stamp = stamp_old}, {.stamp = stamp_old}};
	uint64_t checksum;

	(void)state;
	forget();
	for (unsigned i = 0; i < 2; i++)
		carried[i].key = put_entry(i, 10, &carried[i].checksum);
	change(carried, 2, NULL, 0);
	assert_int_equal(count_marked(), 2);
	/* Another value: somebody has compiled it. */
	(void)put_entry(0, 11, &checksum);
	assert_int_equal(count_marked(), 1);
	/* Cleared, as by who has compiled the same bytes; twice is once. */
	change(NULL, 0, &carried[1].key, 1);
	change(NULL, 0, &carried[1].key, 1);
	assert_int_equal(count_marked(), 0);
	/* A new mark takes an old one's place. */
	carried[0].checksum = checksum;
	change(carried, 1, NULL, 0);
	assert_int_equal(count_marked(), 1);
	/* No entry, no mark. */
	assert_int_equal(os_remove_tree(NULL, cache), 0);
	assert_int_equal(count_marked(), 0);
}

/* A ledger as it was before there were marks. */
static void one_without_marks_is_read(void **state)
{
	static const uint8_t rest[4 + LEDGER_MOST_EPOCHS + 8 * (3 + CACHE_PARTS)];
	struct ledger ledger = {0}, again = {0};
	struct buf bytes = BUF_MAX(1 << 20);
	char *path = ledger_file(folder, cache);
	const struct ledger_carried carried = {1, 2, stamp_now};

	(void)state;
	assert_int_equal(buf_append(NULL, &bytes, "JWLED\0\2\0\1\0\0\0\1\0\0\0", 16), 0);
	assert_int_equal(buf_append(NULL, &bytes, rest, sizeof rest), 0);
	assert_int_equal(buf_append(NULL, &bytes, stamp_old, CACHE_STAMP_SIZE), 0);
	assert_int_equal(buf_append(NULL, &bytes, "place..1key....1\0\0\0\0\0\0\0\0", 24), 0);
	{
		uint8_t sum[8];

		store_u64(sum, fnv_update(FNV_START, bytes.data, bytes.size));
		assert_int_equal(buf_append(NULL, &bytes, sum, sizeof sum), 0);
	}
	assert_int_equal(os_write_atomic(NULL, path, bytes.data, bytes.size), 0);
	ledger_open(&ledger, folder, cache);
	assert_int_equal(ledger.count, 1);
	assert_int_equal(ledger.mark_count, 0);
	/* Without marks it is written as it was. */
	assert_int_equal(ledger_write(NULL, &ledger, path), 0);
	ledger_close(&ledger);
	{
		struct buf written = {0};

		assert_int_equal(os_read_file(NULL, path, 1 << 20, &written), 0);
		assert_int_equal(written.size, bytes.size);
		assert_memory_equal(written.data, bytes.data, bytes.size);
		buf_free(&written);
	}
	/* With them the records stay, also for who does not know marks: they stand behind. */
	change(&carried, 1, NULL, 0);
	ledger_open(&again, folder, cache);
	assert_int_equal(again.count, 1);
	assert_int_equal(again.mark_count, 1);
	assert_int_equal(again.stamp_count, 2);
	assert_string_equal(again.stamps[0], stamp_old);
	assert_string_equal(ledger_mark_stamp(&again, &again.marks[0]), stamp_now);
	ledger_close(&again);
	buf_free(&bytes);
	mem_free(path);
}

/* Who has read the file before somebody else marked something writes his records, and loses none.
 */
static void marks_of_another_process_stay(void **state)
{
	const struct ledger_carried mine = {1, 2, stamp_old}, theirs = {3, 4, stamp_now};
	struct ledger ledger;
	char *path = ledger_file(folder, cache);

	(void)state;
	forget();
	change(&mine, 1, NULL, 0);
	ledger_open(&ledger, folder, cache);
	change(&theirs, 1, NULL, 0);
	ledger_reread_marks(&ledger, path);
	assert_int_equal(ledger_write(NULL, &ledger, path), 0);
	ledger_close(&ledger);
	ledger_open(&ledger, folder, cache);
	assert_int_equal(ledger.mark_count, 2);
	assert_string_equal(ledger_mark_stamp(&ledger, &ledger.marks[1]), stamp_now);
	ledger_close(&ledger);
	mem_free(path);
}

/* More stamps than a ledger names, more marks than it holds. */
static void what_is_too_much_is_forgotten(void **state)
{
	enum { MANY = LEDGER_MOST_MARKS - 10 };
	struct ledger_carried *many = mem_array(NULL, MANY, sizeof *many);
	struct ledger ledger;
	char stamp[CACHE_STAMP_SIZE + 1];

	(void)state;
	forget();
	for (unsigned i = 0; i <= LEDGER_MOST_STAMPS; i++) {
		(void)snprintf(stamp, sizeof stamp, "Jan  1 20%02u00:00:00", i);
		change(&(struct ledger_carried){i + 1, i, stamp}, 1, NULL, 0);
	}
	ledger_open(&ledger, folder, cache);
	assert_int_equal(ledger.mark_count, LEDGER_MOST_STAMPS + 1);
	assert_string_equal(ledger_mark_stamp(&ledger, &ledger.marks[LEDGER_MOST_STAMPS]), "");
	ledger_close(&ledger);
	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct ledger_carried){1000 + i, i, stamp_old};
	change(many, MANY, NULL, 0);
	ledger_open(&ledger, folder, cache);
	assert_int_equal(ledger.mark_count, LEDGER_MOST_MARKS);
	assert_int_equal(ledger.marks[LEDGER_MOST_MARKS - 1].key, 1000 + MANY - 1);
	ledger_close(&ledger);
	mem_free(many);
	forget();
}

static void without_a_folder_nothing_is_marked(void **state)
{
	const struct ledger_carried carried = {1, 2, stamp_old};
	const struct ledger_change what = {.carried = &carried, .carried_count = 1};
	struct jw_error err = {0};

	(void)state;
	assert_int_equal(ledger_change_marks(&err, NULL, cache, &what), -1);
	assert_int_equal(err.code, JW_ERR_NOT_FOUND);
}

static int set_up(void **state)
{
	int result = make_folder(state);

	cache = result ? NULL : os_join(NULL, folder, "cache");
	return cache ? 0 : -1;
}

static int tear_down(void **state)
{
	mem_free(cache);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_holds_as_long_as_its_value),
		cmocka_unit_test(one_without_marks_is_read),
		cmocka_unit_test(marks_of_another_process_stay),
		cmocka_unit_test(what_is_too_much_is_forgotten),
		cmocka_unit_test(without_a_folder_nothing_is_marked),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
