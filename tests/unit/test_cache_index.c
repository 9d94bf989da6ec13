/* Each state of an index leads to the driver's action that was measured, at each bound, and the
 * report says the same. */
#include "folder.h"

#include <string.h>
#include <unistd.h> /* not on Windows: a message names a path in Windows' form, and there are other allocations */

#include <jitwarm/cache.h>

#include "base/cursor.h"
#include "base/set.h"
#include "cache/index.h"
#include "cache/outlook.h"
#include "cache/view.h"
#include "files.h"

/* The first of several rows of one key counts. */
TEST(a_map_has_the_first_row_of_a_key)
{
	struct cache_row rows[] = {{5, 1}, {6, 1}, {5, 2}, {7, 1}, {6, 3}};
	const struct cache_index index = {.rows = rows, .count = 5};
	struct set map = cache_index_map(&index);
	size_t cursor = 0;

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

/* ---- the report */

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
		 "counts 20 B, but its rows add up to 10 B: the driver evicts entries before", "prime",
		 false, 0, 0},
		{CACHE_INDEX_SOUND, 2000, 2000, 1, "evicts", "evicts 1 entry or more", "tune", false, 1, 0},
		{CACHE_INDEX_SOUND, 10, 10 + LIMIT, 1, "evicts_all",
		 "the next compile evicts every entry, and the driver stores no more", "prime", true, 0, 0},
		{CACHE_INDEX_MISSING, 0, 0, 2, "wipes",
		 "the cache's index is missing: the driver will delete every entry (2) at the next compile",
		 "prime", true, 0, 0},
		{CACHE_INDEX_MISSING, 0, 0, 0, "adds", "", "", false, 0, 0},
		{CACHE_INDEX_EMPTY, 0, 0, 2, "wipes", "is empty: the driver will delete", "prime", true, 0,
		 0},
		{CACHE_INDEX_EMPTY, 0, 0, 0, "adds", "", "", false, 0, 0},
		{CACHE_INDEX_TRUNCATED, 0, 0, 2, "wipes", "entry (2) at the next start", "prime", true, 0,
		 0},
		{CACHE_INDEX_VERSION, 0, 0, 2, "wipes", "the cache's index is damaged: ", "prime", true, 0,
		 0},
		{CACHE_INDEX_DEVICE, 0, 0, 0, "wipes", "is a device: the driver will delete", "prime", true,
		 0, 0},
		{CACHE_INDEX_PIPE, 0, 0, 0, "hangs", "is a pipe: programs hang", "prime", true, 0, 0},
		{CACHE_INDEX_CLOSED, 0, 0, 0, "nothing", "is not a file: each start compiles", "prime",
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

RUN_TESTS(make_folder, remove_folder)
