/* A cache that is written with an account's rights: they are taken for each step and given back; a
 * step without them does nothing and says so. The groups of an account are this program's own, so
 * that any account can test it. */
#include "gates_posix.h"

#include <grp.h>

#include <jitwarm/accounts.h>

#include "cache/live.h"
#include "cache/remove.h"
#include "cache/staging.h"
#include "inserting.h"

static bool refused;
static int acting;

int initgroups(const char *name, gid_t group)
{
	(void)name;
	(void)group;
	if (refused) {
		errno = EPERM;
		return -1;
	}
	acting++;
	return 0;
}

int setgroups(size_t count, const gid_t *groups)
{
	(void)count;
	(void)groups;
	acting = 0;
	return 0;
}

static unsigned locked_acting, locked_otherwise;

static void count_lock(const char *path)
{
	if (strcmp(os_base_name(path), "index") != 0)
		return;
	locked_acting += acting == 1;
	locked_otherwise += acting != 1;
}

static struct cache_live *open_as_account(void)
{
	static char name[] = "somebody";
	static struct jw_account account;
	const struct cache_live_options options = {
		.limit_bytes = 1 << 30, .lock_wait_ms = 60, .account = &account};
	struct cache_live *live = NULL;

	account = (struct jw_account){.name = name, .owner = geteuid(), .group = getegid()};
	assert_int_equal(cache_live_open(NULL, dir, &options, &live), 0);
	assert_int_equal(acting, 0);
	return live;
}

static int insert(struct jw_error *err, struct cache_live *live)
{
	return insert_one(err, live, 3, 0, NULL);
}

static int removes(struct jw_error *err, struct cache_live *live)
{
	struct cache_removal removal = {.key = key_of(1)};

	(void)cache_presence(dir, removal.key, 0, &removal.probed);
	if (cache_remove(err, live, &removal, 1))
		return -1;
	assert_int_equal(removal.removed, CACHE_REMOVED);
	return 0;
}

static int settles(struct jw_error *err, struct cache_live *live)
{
	return cache_remove_settle(err, live);
}

static int repairs(struct jw_error *err, struct cache_live *live)
{
	return cache_repair(err, live);
}

TEST(each_step_takes_the_rights_and_gives_them_back)
{
	static int (*const steps[])(struct jw_error * err,
								struct cache_live * live) = {insert, removes, settles, repairs};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct jw_error err = {0};
		struct cache_live *live;

		start_anew();
		fill(1, 2);
		live = open_as_account();
		refused = true;
		assert_int_equal(steps[i](&err, live), -1);
		refused = false;
		assert_non_null(strstr(err.message, "acting as another account"));
		assert_int_equal(acting, 0);
		assert_consistent(2);
		err = (struct jw_error){0};
		locked_acting = locked_otherwise = 0;
		gate_before_lock = count_lock;
		assert_int_equal(steps[i](&err, live), 0);
		assert_int_equal(acting, 0);
		assert_int_equal(cache_live_close(&err, live), 0);
		gate_before_lock = NULL;
		assert_int_equal(acting, 0);
		assert_true(locked_acting > 0);
		assert_int_equal(locked_otherwise, 0);
		assert_int_equal(err.code, JW_OK);
		assert_consistent(i == 0 ? 3 : i == 1 ? 1 : 2);
	}
}

TEST(a_cache_is_opened_and_closed_with_the_rights)
{
	static char name[] = "somebody";
	const struct jw_account account = {.name = name, .owner = geteuid(), .group = getegid()};
	const struct cache_live_options options = {.limit_bytes = 1 << 30, .account = &account};
	struct cache_live *live = NULL;
	struct jw_error err = {0};

	start_anew();
	refused = true;
	assert_int_equal(cache_live_open(&err, dir, &options, &live), -1);
	assert_non_null(strstr(err.message, "acting as another account"));
	assert_null(live);
	assert_int_equal(cache_live_try(NULL, dir, &options), -1);
	refused = false;
	assert_int_equal(cache_live_try(NULL, dir, &options), 0);
	assert_int_equal(acting, 0);
	assert_false(os_exists(dir));
	live = open_as_account();
	assert_int_equal(insert_one(NULL, live, 1, 0, NULL), 0);
	refused = true;
	err = (struct jw_error){0};
	assert_int_equal(cache_live_close(&err, live), -1);
	refused = false;
	assert_non_null(strstr(err.message, "acting as another account"));
	assert_int_equal(cache_live_close(&err, NULL), 0);
}

/* A worker's file is read with our rights; without the account's afterwards nothing is inserted. */
TEST(a_workers_file_is_read_with_our_own_rights)
{
	char *left = os_join(folder, "left");
	struct entries_entry entry;
	struct cache_addition addition;
	struct cache_live *live;

	start_anew();
	fill(1, 1);
	entries_make(&entry, 2, 0);
	assert_int_equal(os_write_atomic(NULL, left, entry.bytes, entry.size), 0);
	addition = addition_of(&entry);
	addition.path = left;
	live = open_as_account();
	assert_int_equal(cache_insert(NULL, live, &addition, 1), 0);
	assert_int_equal(acting, 0);
	assert_int_equal(addition.added, CACHE_ADDED_NEW);
	assert_true(os_exists(left));
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_consistent(2);
	mem_free(left);
}

RUN_TESTS(make_folder, remove_folder)
