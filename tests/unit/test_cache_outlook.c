/* What is said of a cache that cannot be looked at as a whole. */
#include "folder.h"

#include <string.h>

#include <jitwarm/accounts.h>
#include <jitwarm/system.h>

#include "cache/index.h"
#include "entries.h"
#include "packs.h"

enum { LIMIT = 1 << 30, ENTRIES = 3, MOST_ALLOCATIONS = 200 };

TEST(no_directory_holds_nothing)
{
	char *dir = os_join(NULL, folder, "none");
	struct jw_cache_outlook outlook;

	cache_outlook(dir, LIMIT, true, &outlook);
	assert_string_equal(outlook.index, "missing");
	assert_string_equal(outlook.text, "");
	assert_int_equal(outlook.entries, 0);
	mem_free(dir);
}

/* Where memory runs out on the way, nothing is said to be there, or not there. */
TEST(what_was_not_counted_is_unknown)
{
	char *dir = os_join(NULL, folder, "cache");
	struct jw_cache_outlook outlook;
	size_t unknown = 0, left = 0;

	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 0);
		packs_put(dir, entry.key, entry.bytes, entry.size);
	}
	for (size_t n = 1; !left && n < MOST_ALLOCATIONS; n++) {
		mem_fail_after(n);
		cache_outlook(dir, LIMIT, true, &outlook);
		left = mem_fail_after(0);
		if (strstr(outlook.text, "cannot tell"))
			unknown++;
		else
			assert_int_equal(outlook.entries, ENTRIES);
	}
	assert_true(left > 0);
	assert_true(unknown > 1);
	mem_free(dir);
}

/* What the driver's next insert does where rows or total are just as large as the limit. */
TEST(the_limit_itself_is_no_excess)
{
	struct cache_row row = {1, 1000};
	struct cache_index index = {.rows = &row, .count = 1, .total_bytes = 1000};

	assert_int_equal(cache_index_next(&index, 1000), CACHE_NEXT_ADDS);
	assert_int_equal(cache_index_next(&index, 999), CACHE_NEXT_EVICTS);
	index.total_bytes = 1001;
	assert_int_equal(cache_index_next(&index, 1000), CACHE_NEXT_EVICTS_SOON);
	assert_int_equal(cache_index_next(&index, 999), CACHE_NEXT_EVICTS);
	index.total_bytes = 1999;
	assert_int_equal(cache_index_next(&index, 1000), CACHE_NEXT_EVICTS_SOON);
	index.total_bytes = 2000;
	assert_int_equal(cache_index_next(&index, 1000), CACHE_NEXT_EVICTS_ALL);
	assert_int_equal(cache_index_next(&index, 0), CACHE_NEXT_ADDS);
}

TEST(other_caches_are_not_none_without_memory)
{
	struct jw_other_cache *caches = NULL;
	size_t count = 0;
	struct jw_error err;

	mem_fail_after(1);
	assert_int_equal(jw_other_caches(&err, &caches, &count), -1);
	mem_fail_after(0);
	assert_int_equal(err.code, JW_ERR_MEMORY);
}

RUN_TESTS(make_folder, remove_folder)
