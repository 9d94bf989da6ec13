/* An index that a driver is writing is read again; a missing one is not. */
#include "folder.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/view.h"
#include "index_bytes.h"

static const char *path;
static struct buf whole;
static unsigned waits, whole_after;

/* The driver's last bytes come while jitwarm waits. */
__attribute__((visibility("default"))) int nanosleep(const struct timespec *asked,
													 struct timespec *left)
{
	(void)asked;
	(void)left;
	if (++waits == whole_after)
		OK(os_write_atomic(why, path, whole.data, whole.size));
	return 0;
}

static enum cache_index_state state_after(unsigned count, const char *cache, size_t size)
{
	struct cache_index index;
	enum cache_index_state state;

	waits = 0;
	whole_after = count;
	if (size)
		OK(os_write_atomic(why, path, whole.data, size));
	OK(cache_view_index(why, cache, &index));
	state = index.state;
	cache_index_free(&index);
	return state;
}

TEST(an_index_that_is_being_written_is_waited_for)
{
	char *cache = keep(os_join(folder, "cache")), *index_path = keep(os_join(cache, "index"));
	const struct cache_index empty = {.state = CACHE_INDEX_SOUND};

	path = index_path;
	OK(os_make_dirs(why, cache, 0700));
	whole = index_bytes(&empty);
	assert_int_equal(state_after(0, cache, 0), CACHE_INDEX_MISSING);
	assert_int_equal(waits, 0);
	assert_int_equal(state_after(0, cache, whole.size), CACHE_INDEX_SOUND);
	assert_int_equal(waits, 0);
	for (unsigned n = 1; n < 4; n++) {
		assert_int_equal(state_after(n, cache, whole.size - 1), CACHE_INDEX_SOUND);
		assert_int_equal(waits, n);
	}
	/* jitwarm does not wait for ever. */
	assert_int_not_equal(state_after(0, cache, whole.size - 1), CACHE_INDEX_SOUND);
	assert_int_equal(waits, 3);
	buf_free(&whole);
}

static bool always(void *context)
{
	(void)context;
	return true;
}

/* Another account's cache can have 200,000 files, which take seconds. */
TEST(listing_ends_when_it_is_cancelled)
{
	char *cache = keep(os_join(folder, "long")), *below = keep(os_join(cache, "a"));
	const struct jw_cancel cancel = {.is_cancelled = always};
	struct cache_files files = {0};

	OK(os_make_dirs(why, below, 0755));
	assert_int_equal(cache_files_scan(why, cache, /* headers= */ true, &cancel, &files), -1);
	assert_int_equal(why->code, JW_ERR_INTERRUPTED);
}

/* An account that may not read the folder gets the error. */
TEST(a_folder_that_cannot_be_read_is_no_empty_one)
{
	char *cache = keep(os_join(folder, "shut")), *below = keep(os_join(cache, "a"));
	struct cache_files files = {0};
	const bool is_root = !geteuid();

	OK(os_make_dirs(why, below, 0755));
	assert_int_equal(chmod(folder, 0755) || chmod(cache, 0755), 0);
	for (unsigned mode = 0; mode <= 0755; mode += 0755) {
		assert_int_equal(chmod(below, mode), 0);
		assert_false(is_root && seteuid(65534));
		assert_int_equal(cache_files_scan(why, cache, /* headers= */ true, NULL, &files),
						 mode ? 0 : -1);
		cache_files_free(&files);
		assert_int_equal(cache_files_scan(why, cache, /* headers= */ false, NULL, &files),
						 mode ? 0 : -1);
		cache_files_free(&files);
		assert_false(is_root && seteuid(0));
		assert_true(strstr(why->message, below) != NULL);
	}
}

RUN_TESTS(make_folder, remove_folder)
