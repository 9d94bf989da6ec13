/* A worker's result is inserted into the cache only if it is sound, and the caller learns the
 * outcome. */
#include "inserting.h"

#include <string.h>

#include "driver/collect.h"

struct left {
	struct entries_entry entry;
	char *path;
	struct plan_target target;
	struct plan_module module;
	struct plan plan;
	struct collected collected;
};

/* Leaves entry number 1 as a worker's driver does. */
static void leave(struct left *left)
{
	*left = (struct left){.path = os_join(folder, "left"), .target = {.device = {.sm = 86}}};
	entries_make(&left->entry, 1, 0);
	left->module = (struct plan_module){
		.key = left->entry.key, .key_bytes = left->entry.key_bytes, .form = CACHE_KEY_LOAD};
	left->module.identity = left->entry.identity;
	left->plan = (struct plan){
		.targets = &left->target, .target_count = 1, .modules = &left->module, .module_count = 1};
	left->collected =
		(struct collected){.what = COLLECTED, .path = left->path, .key = left->entry.key};
}

static int insert_left(struct jw_error *err, const struct left *left, int64_t *ret_grown)
{
	struct cache_live *live = open_live(1 << 30, CACHE_FULL_REFUSE);
	int result;

	OK(os_write_atomic(why, left->path, left->entry.bytes, left->entry.size));
	result = collect_insert(err, live, &left->collected, &left->plan, &left->module, ret_grown);
	OK(cache_live_close(why, live));
	return result;
}

TEST(a_sound_entry_is_taken)
{
	struct left left;
	int64_t grown = 0;

	start_anew();
	leave(&left);
	OK(insert_left(why, &left, &grown));
	assert_int_equal(grown, left.entry.row_bytes);
	assert_false(os_exists(left.path));
	assert_consistent(1);
	/* The same entry is not inserted again, but removed, too. */
	OK(insert_left(why, &left, &grown));
	assert_int_equal(grown, 0);
	assert_false(os_exists(left.path));
	assert_consistent(1);
	mem_free(left.path);
}

/* The entry is torn, or has another name, GPU or kind: it is reported, and left in place. */
TEST(an_unsound_entry_is_reported)
{
	for (int i = 0; i < 4; i++) {
		struct left left;
		int64_t grown = -7;

		start_anew();
		leave(&left);
		if (i == 0)
			left.entry.bytes[left.entry.size - 1] ^= 1;
		else if (i == 1)
			left.collected.key = left.module.key = left.entry.key + 1;
		else if (i == 2)
			left.target.device.sm = 89;
		else
			left.module.form = CACHE_KEY_LINK;
		GIVES(JW_ERR_FORMAT, insert_left(why, &left, &grown));
		assert_int_equal(grown, -7);
		assert_true(os_exists(left.path));
		assert_int_equal(cache_presence(dir, left.collected.key, 0, NULL), CACHE_ABSENT);
		mem_free(left.path);
	}
}

/* A driver that stores nothing may not even make the directory. */
TEST(a_directory_that_was_never_made_has_no_entry)
{
	struct left left;
	struct collected found = {.what = COLLECTED_FOREIGN, .key = 7};
	char *missing = keep(os_join(folder, "never-made"));

	leave(&left);
	found.path = left.path;
	OK(collect_find(why, missing, &left.plan, &left.module, 1, &found));
	assert_int_equal(found.what, COLLECTED_NOTHING);
	assert_null(found.path);
	mem_free(left.path);
}

RUN_TESTS(make_folder, remove_folder)
