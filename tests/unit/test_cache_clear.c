/* Every file in an entry's place is removed, whatever made it; a call that is cancelled leaves a
 * sound cache. */
#include "folder.h"

#include <jitwarm/cache.h>

#include "base/text.h"
#include "packs.h"

enum { MANY = 257, AT_A_TIME = 256 };

static char *cache;

static uint64_t put(unsigned n, const char *stamp, uint16_t sm, bool damaged)
{
	uint8_t bytes[512], *value;
	char key[128];
	int length = snprintf(key, sizeof key, "%sHOST64sm_%u// %05u%c ", stamp, sm, n, 0);
	uint64_t name = fnv_update(FNV_START, key, (size_t)length);

	value = bytes + CACHE_ENTRY_HEADER + length;
	memcpy(bytes + CACHE_ENTRY_HEADER, key, (size_t)length);
	entries_cubin(value, sm, false);
	cache_entry_header(bytes, (uint64_t)length, ENTRIES_CUBIN,
					   fnv_update(FNV_START, value, ENTRIES_CUBIN));
	bytes[0] ^= damaged;
	packs_put(cache, name, bytes, CACHE_ENTRY_HEADER + (size_t)length + ENTRIES_CUBIN);
	return CACHE_ENTRY_HEADER + (uint64_t)length + ENTRIES_CUBIN;
}

/* Puts `count` entries of several drivers and GPUs; one is damaged. Returns the size of all. */
static uint64_t put_all(unsigned count)
{
	static const char *const stamps[] = {"Apr  8 202512:10:18", "Jan  1 201901:02:03"};
	uint64_t bytes = 0;

	if (os_exists(cache))
		OK(os_remove_tree(why, cache));
	for (unsigned n = 0; n < count; n++)
		bytes += put(n, stamps[n % 2], n % 3 ? 86 : 120, n == 1);
	return bytes;
}

static size_t count_left(void)
{
	const struct jw_cache_options options = {.path = cache};
	struct jw_cache_listing *list;
	size_t count;

	OK(jw_cache_list(why, &options, &list));
	count = list->count;
	jw_result_free(list);
	return count;
}

TEST(all_go_and_are_counted)
{
	const struct jw_cache_options options = {.path = cache};
	const uint64_t bytes = put_all(2 * MANY);
	struct jw_cache_cleared *cleared;

	for (int dry = 1; dry >= 0; dry--) {
		OK(jw_cache_clear(why, &options, dry, &cleared));
		assert_int_equal(cleared->removed, 2 * MANY);
		assert_int_equal(cleared->removed_bytes, bytes);
		assert_int_equal(cleared->stayed, 0);
		jw_result_free(cleared);
		assert_int_equal(count_left(), dry ? 2 * MANY : 0);
	}
	OK(jw_cache_clear(why, &options, false, &cleared));
	assert_int_equal(cleared->removed, 0);
	jw_result_free(cleared);
}

static bool is_cancelled(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

static bool count_asks(void *context)
{
	++*(size_t *)context;
	return false;
}

TEST(many_go_until_it_is_cancelled)
{
	size_t left = 1, asks = 0;
	struct jw_cache_options options = {.path = cache, .cancel = {&left, is_cancelled}};
	struct jw_cache_cleared *cleared = NULL;
	struct jw_cache_report *report;

	(void)put_all(MANY);
	GIVES(JW_ERR_INTERRUPTED, jw_cache_clear(why, &options, false, &cleared));
	assert_int_equal(count_left(), MANY);
	/* after the first of two parts */
	options.cancel = (struct jw_cancel){&asks, count_asks};
	OK(jw_cache_clear(why, &options, true, &cleared));
	jw_result_free(cleared);
	left = asks + 2;
	cleared = NULL;
	options.cancel = (struct jw_cancel){&left, is_cancelled};
	GIVES(JW_ERR_INTERRUPTED, jw_cache_clear(why, &options, false, &cleared));
	assert_null(cleared);
	assert_int_equal(count_left(), MANY - AT_A_TIME);
	options.cancel = (struct jw_cancel){0};
	OK(jw_cache_verify(why, &options, &report));
	assert_int_equal(report->rows_without_file, 0);
	jw_result_free(report);
	OK(jw_cache_clear(why, &options, false, &cleared));
	assert_int_equal(cleared->removed, MANY - AT_A_TIME);
	jw_result_free(cleared);
	assert_int_equal(count_left(), 0);
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = keep(os_join(folder, "cache"));
	return 0;
}

RUN_TESTS(set_up, remove_folder)
