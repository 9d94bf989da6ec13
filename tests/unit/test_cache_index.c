/* The index's bytes and what a driver makes of them, at each bound; what is said of it. */
#include "folder.h"

#include <string.h>
#include <unistd.h> /* not for Windows: a load's message names a path of Windows' form, and its allocations are others */

#include <jitwarm/cache.h>

#include "base/cursor.h"
#include "base/set.h"
#include "cache/index.h"
#include "cache/view.h"
#include "files.h"

TEST(each_state_has_a_name)
{
	static const char *const states[] = {"sound",        "missing",  "empty",  "truncated",
										 "not an index", "a device", "a pipe", "not a file"};
	static const char *const nexts[] = {"adds",  "evicts_soon", "evicts", "evicts_all",
										"wipes", "nothing",     "hangs"};

	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		assert_string_equal(cache_index_state_name((enum cache_index_state)i), states[i]);
	for (size_t i = 0; i < sizeof nexts / sizeof *nexts; i++)
		assert_string_equal(cache_next_insert_name((enum cache_next_insert)i), nexts[i]);
}

TEST(sums_end_at_the_largest_number)
{
	static const struct {
		uint64_t sizes[3], total;
	} cases[] = {
		{{1, 2, 3}, 6},
		{{UINT64_MAX - 3, 1, 2}, UINT64_MAX},
		{{UINT64_MAX - 3, 1, 1}, UINT64_MAX - 1},
		{{UINT64_MAX - 3, 4, 0}, UINT64_MAX},
		{{UINT64_MAX, UINT64_MAX, 2}, UINT64_MAX},
		{{UINT64_MAX, 0, 0}, UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_row rows[3];
		struct cache_index index = {.rows = rows, .count = 3}, again;
		struct buf bytes = {0};

		for (size_t n = 0; n < 3; n++)
			rows[n] = (struct cache_row){n, cases[i].sizes[n]};
		assert_int_equal(cache_index_rows_total(&index), cases[i].total);
		/* What was in the buffer goes. */
		bytes.most = 100;
		assert_int_equal(buf_append(NULL, &bytes, "before", 6), 0);
		assert_int_equal(cache_index_format(NULL, &index, &bytes), 0);
		assert_int_equal(bytes.size, 64);
		assert_int_equal(cache_index_parse(NULL, bytes.data, bytes.size, &again), 0);
		assert_int_equal(again.state, CACHE_INDEX_SOUND);
		assert_int_equal(again.count, 3);
		assert_memory_equal(again.rows, rows, sizeof rows);
		assert_int_equal(again.total_bytes, cases[i].total);
		cache_index_free(&again);
		buf_free(&bytes);
	}
}

/* Of several rows of one key the first one is meant. */
TEST(a_map_has_the_first_row_of_a_key)
{
	struct cache_row rows[] = {{5, 1}, {6, 1}, {5, 2}, {7, 1}, {6, 3}};
	const struct cache_index index = {.rows = rows, .count = 5};
	struct set map;
	size_t cursor = 0;

	assert_int_equal(cache_index_map(NULL, &index, &map), 0);
	assert_int_equal(set_find(&map, 5, &cursor), 0);
	assert_int_equal(set_find(&map, 5, &cursor), SET_NONE);
	cursor = 0;
	assert_int_equal(set_find(&map, 6, &cursor), 1);
	assert_int_equal(set_find(&map, 6, &cursor), SET_NONE);
	cursor = 0;
	assert_int_equal(set_find(&map, 7, &cursor), 3);
	cursor = 0;
	assert_int_equal(set_find(&map, 8, &cursor), SET_NONE);
	set_free(&map);
}

TEST(what_a_driver_does_depends_on_the_state_first)
{
	static const enum cache_next_insert nexts[] = {
		CACHE_NEXT_ADDS,  CACHE_NEXT_WIPES, CACHE_NEXT_WIPES, CACHE_NEXT_WIPES,
		CACHE_NEXT_WIPES, CACHE_NEXT_WIPES, CACHE_NEXT_HANGS, CACHE_NEXT_NOTHING};

	for (size_t i = 0; i < sizeof nexts / sizeof *nexts; i++) {
		const struct cache_index index = {.state = (enum cache_index_state)i};

		assert_int_equal(cache_index_next(&index, 0), nexts[i]);
		assert_int_equal(cache_index_next(&index, 100), nexts[i]);
	}
}

/* A total that fits evicts nothing, whatever the rows make. */
TEST(the_total_decides)
{
	struct cache_row row = {1, 1001};
	struct cache_index index = {.rows = &row, .count = 1, .total_bytes = 1000};

	assert_int_equal(cache_index_next(&index, 1000), CACHE_NEXT_ADDS);
	index.total_bytes = 1001;
	assert_int_equal(cache_index_next(&index, 1000), CACHE_NEXT_EVICTS);
	assert_int_equal(cache_index_next(&index, 1001), CACHE_NEXT_ADDS);
}

/* ---- what is said */

enum { LIMIT = 1000 };

TEST(each_outlook_is_told)
{
	static const struct {
		enum cache_index_state state;
		uint64_t row_bytes, total;
		size_t files;
		const char *next, *text, *step;
		bool harmful;
		size_t evicted, uncounted;
	} cases[] = {
		{CACHE_INDEX_SOUND, 10, 10, 1, "adds", "", "", false, 0, 0},
		{CACHE_INDEX_SOUND, 10, 10, 4, "adds", "", "", false, 0, 3},
		{CACHE_INDEX_SOUND, 10, 20, 1, "evicts_soon",
		 "counts 20 B, but its rows make 10 B: the driver evicts entries before", "prime", false, 0,
		 0},
		{CACHE_INDEX_SOUND, 2000, 2000, 1, "evicts", "evicts 1 entry or more", "tune", false, 1, 0},
		{CACHE_INDEX_SOUND, 10, 10 + LIMIT, 1, "evicts_all",
		 "the next module evicts every entry, and the driver stores no more", "prime", true, 0, 0},
		{CACHE_INDEX_MISSING, 0, 0, 2, "wipes",
		 "the cache's index is missing: the driver deletes every entry (2) when it next stores",
		 "prime", true, 0, 0},
		{CACHE_INDEX_MISSING, 0, 0, 0, "adds", "", "", false, 0, 0},
		{CACHE_INDEX_EMPTY, 0, 0, 2, "wipes", "is empty: the driver deletes", "prime", true, 0, 0},
		{CACHE_INDEX_EMPTY, 0, 0, 0, "adds", "", "", false, 0, 0},
		{CACHE_INDEX_TRUNCATED, 0, 0, 2, "wipes", "entry (2) when a program starts", "prime", true,
		 0, 0},
		{CACHE_INDEX_VERSION, 0, 0, 2, "wipes", "the cache's index is damaged: ", "prime", true, 0,
		 0},
		{CACHE_INDEX_DEVICE, 0, 0, 0, "wipes", "is a device: the driver deletes", "prime", true, 0,
		 0},
		{CACHE_INDEX_PIPE, 0, 0, 0, "hangs", "is a pipe: a program hangs", "prime", true, 0, 0},
		{CACHE_INDEX_CLOSED, 0, 0, 0, "nothing", "is not a file: the driver uses no entry", "prime",
		 true, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_row row = {1, cases[i].row_bytes};
		const struct cache_index index = {.state = cases[i].state,
										  .rows = &row,
										  .count = cases[i].row_bytes ? 1 : 0,
										  .total_bytes = cases[i].total};
		struct jw_cache_outlook outlook;

		cache_outlook_of(&index, cases[i].files, 500, LIMIT, &outlook);
		assert_string_equal(outlook.index, cache_index_state_name(cases[i].state));
		assert_int_equal(outlook.entries, cases[i].files);
		assert_int_equal(outlook.bytes, 500);
		if (strcmp(outlook.next_insert, cases[i].next) != 0 ||
			!strstr(outlook.text, cases[i].text) || !strstr(outlook.next_step, cases[i].step) ||
			!*outlook.text != !*cases[i].text || !*outlook.next_step != !*cases[i].step)
			fail_msg("case %zu: %s: %s (%s)", i, outlook.next_insert, outlook.text,
					 outlook.next_step);
		assert_int_equal(outlook.harmful, cases[i].harmful);
		assert_int_equal(outlook.evicted, cases[i].evicted);
		assert_int_equal(outlook.uncounted, cases[i].uncounted);
	}
}

/* Files without rows are counted where they all fit into the limit. */
TEST(uncounted_files_fit_into_the_limit)
{
	const struct cache_index index = {.state = CACHE_INDEX_SOUND};
	struct jw_cache_outlook outlook;

	cache_outlook_of(&index, 2, LIMIT, LIMIT, &outlook);
	assert_int_equal(outlook.uncounted, 2);
	cache_outlook_of(&index, 2, LIMIT + 1, LIMIT, &outlook);
	assert_int_equal(outlook.uncounted, 0);
}

TEST(rows_are_evicted_until_the_rest_fits)
{
	struct cache_row rows[] = {{1, 300}, {2, 300}, {3, 300}, {4, 300}};
	const struct cache_index index = {.rows = rows, .count = 4, .total_bytes = 1200};
	static const struct {
		uint64_t limit;
		size_t evicted;
	} cases[] = {{1199, 1}, {900, 1}, {899, 2}, {600, 2}, {599, 3}, {300, 3}, {299, 4}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_cache_outlook outlook;

		cache_outlook_of(&index, 4, 0, cases[i].limit, &outlook);
		assert_string_equal(outlook.next_insert, "evicts");
		assert_int_equal(outlook.evicted, cases[i].evicted);
		assert_int_equal(outlook.evicted_bytes, 300 * cases[i].evicted);
	}
}

static void put_index(const char *dir, uint32_t count, uint64_t total, size_t size)
{
	uint8_t bytes[64] = {0x41};

	store_u32(bytes + 4, count);
	store_u64(bytes + 8, total);
	store_u64(bytes + 24, total);
	files_put(dir, "index", bytes, size);
}

/* Of a sound index the rows are enough; files are counted where they are asked for, or where the
 * index does not tell. */
TEST(a_directory_is_looked_at_as_far_as_needed)
{
	char *dir = os_join(NULL, folder, "looked-at"), *large = os_join(NULL, dir, "index");
	struct jw_cache_outlook outlook;
	struct os_file *file;

	cache_outlook(NULL, LIMIT, true, &outlook);
	assert_string_equal(outlook.index, "unknown");
	assert_string_equal(outlook.next_insert, "adds");
	assert_string_equal(outlook.text, "");
	put_index(dir, 1, 100, 32);
	files_put(dir, "1/0/00000000000000", "12345678901234567890123456789", 29);
	files_put(dir, "1/0/00000000000001", "1234567890123456789012345678", 28);
	files_put(dir, "1/0/00000000000002", "1", 1);
	cache_outlook(dir, LIMIT, false, &outlook);
	assert_int_equal(outlook.entries, 1);
	assert_int_equal(outlook.bytes, 100);
	cache_outlook(dir, LIMIT, true, &outlook);
	assert_int_equal(outlook.entries, 3);
	assert_int_equal(outlook.bytes, 1);
	put_index(dir, 1, 100, 16);
	cache_outlook(dir, LIMIT, false, &outlook);
	assert_int_equal(outlook.entries, 3);
	assert_string_equal(outlook.index, "truncated");
	/* One that cannot be read is not one that is sound. */
	assert_int_equal(os_file_open(NULL, large, OS_OPEN_UPDATE, &file), 0);
	assert_int_equal(
		os_file_truncate(NULL, file, CACHE_INDEX_HEADER + 16 * (uint64_t)CACHE_MOST_ROWS + 1), 0);
	os_file_close(file);
	cache_outlook(dir, LIMIT, false, &outlook);
	assert_string_equal(outlook.index, "unknown");
	assert_non_null(strstr(outlook.text, "cannot tell what the next start does"));
	assert_non_null(strstr(outlook.next_step, "jitwarm cache verify"));
	mem_free(large);
	mem_free(dir);
}

/* Nothing is in front of an error that is none. */
TEST(a_load_names_the_file_that_it_fails_for)
{
	char *dir = os_join(NULL, folder, "loaded"), *path = os_join(NULL, dir, "index");
	struct cache_index index;
	struct jw_error err = {0};
	size_t lacks = 0;

	put_index(dir, 1, 100, 32);
	assert_int_equal(cache_index_load(&err, dir, &index), 0);
	assert_string_equal(err.message, "");
	cache_index_free(&index);
	for (size_t n = 1, left = 0; !left; n++) {
		int result;

		err = (struct jw_error){0};
		index = (struct cache_index){.count = 77};
		mem_fail_after(n);
		result = cache_index_load(&err, dir, &index);
		left = mem_fail_after(0);
		assert_int_equal(index.count, result ? 77 : 1);
		assert_int_equal(err.code, result ? JW_ERR_MEMORY : JW_OK);
		lacks += result && strstr(err.message, path);
		if (!result)
			cache_index_free(&index);
	}
	assert_true(lacks > 0);
	mem_free(path);
	mem_free(dir);
}

RUN_TESTS(make_folder, remove_folder)
