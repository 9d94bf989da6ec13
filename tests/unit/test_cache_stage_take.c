/* Entry files that are moved into the cache instead of being copied, and those that are not. */
#include "made_entries.h"

#include <uv.h>

struct given {
	struct entry entry;
	char *made, *dir, *target; /* the worker's file, the cache, the entry's place in it */
};

static void begin(struct given *given)
{
	make_entry(&given->entry, 300, 700);
	given->made = os_join(NULL, folder, "made");
	given->dir = os_join(NULL, folder, "cache");
	given->target = cache_entry_path(NULL, given->dir, given->entry.key);
	put(given->made, given->entry.bytes.data, given->entry.bytes.size);
}

static void end(struct given *given)
{
	assert_int_equal(os_remove_tree(NULL, given->dir), 0);
	assert_int_equal(os_remove(NULL, given->made), 0);
	buf_free(&given->entry.bytes);
	mem_free(given->made);
	mem_free(given->dir);
	mem_free(given->target);
}

static uint64_t number_of(const char *path)
{
	struct os_stat stat = {0};

	(void)os_stat(NULL, path, &stat);
	return stat.inode;
}

/* Inserts the worker's file, which may be taken. */
static int insert(const struct given *given, uint64_t limit_bytes, struct cache_addition *addition)
{
	const struct cache_live_options options = {.limit_bytes = limit_bytes};
	struct cache_live *live = NULL;
	int result;

	*addition = (struct cache_addition){.path = given->made,
										.may_take = true,
										.key = given->entry.key,
										.key_bytes = given->entry.key_bytes,
										.sm = 86,
										.form = CACHE_KEY_LOAD};
	assert_int_equal(cache_live_open(NULL, given->dir, &options, &live), 0);
	result = cache_insert(NULL, live, addition, 1);
	assert_int_equal(cache_live_close(NULL, live), 0);
	return result;
}

static void assert_copied(const struct given *given)
{
	struct cache_addition addition;

	assert_int_equal(insert(given, 1 << 20, &addition), 0);
	assert_int_equal(addition.added, CACHE_ADDED_NEW);
	assert_false(addition.taken);
	assert_true(os_exists(given->made));
	assert_int_not_equal(number_of(given->made), number_of(given->target));
}

/* Its worker could change it after it was judged. */
TEST(a_file_that_is_open_for_writing_is_copied)
{
	struct os_file *file = NULL;
	struct given given;

	begin(&given);
	assert_int_equal(os_file_open(NULL, given.made, OS_OPEN_UPDATE, &file), 0);
	assert_copied(&given);
	os_file_close(file);
	end(&given);
}

TEST(a_file_with_another_name_is_copied)
{
	char *other = os_join(NULL, folder, "other");
	struct given given;
	uv_fs_t request;

	begin(&given);
	assert_int_equal(uv_fs_link(NULL, &request, given.made, other, NULL), 0);
	uv_fs_req_cleanup(&request);
	assert_copied(&given);
	assert_int_equal(os_remove(NULL, other), 0);
	mem_free(other);
	end(&given);
}

TEST(bytes_behind_the_value_are_left_out)
{
	struct given given;
	struct os_stat stat;

	begin(&given);
	put(given.made, given.entry.bytes.data, given.entry.bytes.size + 10);
	assert_copied(&given);
	assert_int_equal(os_stat(NULL, given.target, &stat), 0);
	assert_int_equal(stat.size_bytes, given.entry.bytes.size);
	end(&given);
}

RUN_TESTS(make_folder, remove_folder)
