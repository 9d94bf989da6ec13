/* Where memory runs out on the way, no function of a cache says that it has done its work. */
#include "inserting.h"

/* So many files take minutes under Wine. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jitwarm/cache.h>

#include "cache/profile.h"
#include "cache/remove.h"
#include "cache/stamp.h"
#include "index_bytes.h"
#include "lacking.h"

#define STAMP "Jun 25 202401:14:48"

static const uint32_t release[3] = {550, 163, 1};
static char *state_dir, *library;

/* The name of a file that the kernel has no memory to look at. */
static const char *unseen;

int fstatat(int at, const char *path, struct stat *to, int flags)
{
	const char *name = strrchr(path, '/');

	errno = ENOMEM;
	return unseen && !strcmp(name ? name + 1 : path, unseen)
			   ? -1
			   : (int)syscall(SYS_newfstatat, at, path, to, flags);
}

/* Takes `path` over. Not os_write_atomic: so many files need not be synced to disk. */
static void put(char *path, const void *bytes, size_t size)
{
	char *above = os_dir_name(NULL, path);
	struct os_file *file = NULL;

	assert_int_equal(os_make_dirs(NULL, above, 0700), 0);
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
	assert_int_equal(os_file_truncate(NULL, file, 0), 0);
	assert_int_equal(os_file_write(NULL, file, 0, bytes, size), 0);
	os_file_close(file);
	mem_free(above);
	mem_free(path);
}

/* The profiles of a library that is there and of one that is not, beside what is no profile. */
static void put_profiles(void)
{
	static const char *const stamps[] = {"Jun 25 202401:14:47", "Jun 25 202401:14:46"};

	mem_free(state_dir);
	mem_free(library);
	state_dir = os_join(NULL, folder, "state");
	library = os_join(NULL, folder, "libcuda.so.1");
	assert_int_equal(os_write_atomic(NULL, library, STAMP "\0", sizeof STAMP), 0);
	for (size_t i = 0; i < 2; i++) {
		struct cache_profile profile = {.trust = CACHE_STAMP_READ, .driver.release = {1, 2, 3}};
		struct os_stat stat;

		assert_int_equal(os_stat(NULL, library, &stat), 0);
		memcpy(profile.stamp, stamps[i], sizeof profile.stamp);
		(void)snprintf(profile.library, sizeof profile.library, "%s%s", library, i ? "-gone" : "");
		profile.library_size = stat.size_bytes;
		profile.library_mtime_ns = stat.mtime_ns;
		assert_int_equal(cache_profile_save(NULL, state_dir, &profile), 0);
	}
	put(os_join(NULL, state_dir, "drivers/none.json"), "{}", 2);
	put(os_join(NULL, state_dir, "drivers/none.txt"), "{}", 2);
}

static int reads_former_drivers(struct jw_error *err, void *context)
{
	struct former_drivers drivers = {0};

	(void)context;
	if (former_read(err, state_dir, STAMP, release, &drivers))
		return -1;
	assert_int_equal(former_of(&drivers, STAMP), FORMER_LIVING);
	former_free(&drivers);
	return 0;
}

TEST(former_drivers_are_whole)
{
	struct former_drivers drivers;

	put_profiles();
	each_allocation_lacks(reads_former_drivers, NULL);
	assert_int_equal(former_read(NULL, state_dir, STAMP, release, &drivers), 0);
	assert_int_equal(former_of(&drivers, "Jun 25 202401:14:47"), FORMER_LIVING);
	assert_int_equal(former_of(&drivers, "Jun 25 202401:14:46"), FORMER_FORMER);
	former_free(&drivers);
	STARVE(former_read(&err, NULL, STAMP, release, &drivers), former_free(&drivers));
}

static int adds_former_drivers(struct jw_error *err, void *context)
{
	struct former_drivers drivers = {0};
	int result = 0;

	(void)context;
	for (unsigned day = 1; !result && day <= 28; day++) {
		char stamp[CACHE_STAMP_SIZE + 1];

		(void)snprintf(stamp, sizeof stamp, "Feb %2u 202301:02:03", day);
		result = former_add(err, &drivers, stamp);
		assert_int_equal(drivers.count, result ? day - 1 : day);
	}
	former_free(&drivers);
	return result;
}

static int saves_a_profile(struct jw_error *err, void *context)
{
	struct cache_profile profile = {.trust = CACHE_STAMP_READ};

	(void)context;
	memcpy(profile.stamp, STAMP, sizeof STAMP);
	memcpy(profile.library, library, strlen(library) + 1);
	return cache_profile_save(err, state_dir, &profile);
}

TEST(profiles_are_whole)
{
	struct cache_profile profile;

	put_profiles();
	each_allocation_lacks(adds_former_drivers, NULL);
	each_allocation_lacks(saves_a_profile, NULL);
	put_profiles();
	STARVE(cache_profile_load(&err, state_dir, library, &profile), (void)0);
}

/* ---- the cache itself */

static struct cache_live *open_with(struct jw_error *err)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30, .lock_wait_ms = 60};
	struct cache_live *live = NULL;

	return cache_live_open(err, dir, &options, &live) ? NULL : live;
}

/* Of entries 1 to 4 the first one is cut and the last one missing; a fifth one has no row. */
static void spoil(void)
{
	struct cache_row rows[4];
	const struct cache_index index = {.rows = rows, .count = 4};
	struct buf bytes = {0};

	start_anew();
	for (unsigned n = 1; n <= 5; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 0);
		if (n < 5)
			rows[n - 1] = (struct cache_row){entry.key, entry.row_bytes};
		if (n != 4)
			put(cache_entry_path(NULL, dir, entry.key), entry.bytes, entry.size - (n == 1));
	}
	bytes = index_bytes(&index);
	put(os_join(NULL, dir, "index"), bytes.data, bytes.size);
	buf_free(&bytes);
}

/* What each does to the spoilt cache, with all of its memory or without; afterwards it is as whole
 * as it says. */
static int repairs(struct jw_error *err)
{
	struct cache_live *live = open_with(err);
	int result;

	if (!live)
		return -1;
	result = cache_repair(err, live);
	return cache_live_close(result ? NULL : err, live) || result ? -1 : 0;
}

static int removes(struct jw_error *err)
{
	struct cache_live *live = open_with(err);
	struct cache_removal removals[2] = {{.key = key_of(1)}, {.key = key_of(2)}};
	int result;

	if (!live)
		return -1;
	for (size_t i = 0; i < 2; i++)
		if (cache_presence(dir, removals[i].key, 0, &removals[i].probed) == CACHE_ABSENT)
			removals[i].removed = CACHE_REMOVED_GONE;
	result = cache_remove(err, live, removals, 2) || cache_remove_settle(err, live) ? -1 : 0;
	assert_true(result || removals[0].removed);
	return cache_live_close(result ? NULL : err, live) || result ? -1 : 0;
}

static int mends(struct jw_error *err)
{
	const struct jw_cache_options options = {.path = dir, .limit_bytes = 1 << 30};
	struct jw_cache_repaired repaired;

	return jw_cache_repair(err, &options, &repaired);
}

static int keeps(struct jw_error *err)
{
	struct cache_live *live = open_with(err);
	int result;

	if (!live)
		return -1;
	result = cache_keep(err, live, key_of(2));
	return cache_live_close(result ? NULL : err, live) || result ? -1 : 0;
}

static int evicts(struct jw_error *err)
{
	struct entries_entry entry;
	struct cache_live_options options = {.when_full = CACHE_FULL_EVICT, .lock_wait_ms = 60};
	struct cache_live *live;
	int result;

	entries_make(&entry, 20, 0);
	options.limit_bytes = 3 * entry.row_bytes;
	if (cache_live_open(err, dir, &options, &live))
		return -1;
	result = insert_one(err, live, 20, 0, NULL);
	return cache_live_close(result ? NULL : err, live) || result ? -1 : 0;
}

TEST(a_cache_is_as_whole_as_is_said)
{
	static int (*const does[])(struct jw_error * err) = {repairs, removes, mends, keeps, evicts};

	for (size_t i = 0; i < sizeof does / sizeof *does; i++)
		for (size_t n = 1, left = 0; !left; n++) {
			struct jw_error err = {0};
			struct cache_index index;
			int result;

			spoil();
			mem_fail_after(n);
			result = does[i](&err);
			left = mem_fail_after(0);
			if (err.code != (result ? JW_ERR_MEMORY : JW_OK))
				fail_msg("%zu, allocation %zu: %d, %s", i, n, result, err.message);
			assert_int_equal(left && result, 0);
			assert_int_equal(cache_index_load(NULL, dir, &index), 0);
			assert_int_equal(index.state, CACHE_INDEX_SOUND);
			if (!result && (i == 2 || i == 4))
				assert_int_equal(index.count, 3);
			cache_index_free(&index);
		}
}

static int verifies(struct jw_error *err, void *context)
{
	const struct jw_cache_options options = {.path = dir, .limit_bytes = 1 << 30};
	struct jw_cache_report *report;

	(void)context;
	if (jw_cache_verify(err, &options, &report))
		return -1;
	assert_int_equal(report->sound, 3);
	assert_int_equal(report->damaged, 1);
	assert_int_equal(report->rows, 4);
	assert_int_equal(report->files_without_row, 1);
	assert_int_equal(report->rows_without_file, 1);
	jw_cache_report_free(report);
	return 0;
}

TEST(what_is_looked_at_is_whole)
{
	const struct jw_cache_options options = {.path = dir, .limit_bytes = 1 << 30};
	const struct cache_live_options how = {.limit_bytes = 1 << 30};
	struct jw_cache_listing *list;

	spoil();
	STARVE(jw_cache_list(&err, &options, &list), jw_cache_list_free(list));
	each_allocation_lacks(verifies, NULL);
	STARVE(cache_live_try(&err, dir, &how), (void)0);
}

/* An entry that cannot be looked at is not taken for missing, and written over. */
TEST(what_cannot_be_looked_at_is_not_replaced)
{
	char *made = os_join(NULL, folder, "made"), *path;
	struct entries_entry entry;
	struct cache_addition addition;
	struct cache_live *live;
	struct jw_error err = {0};
	struct os_stat before, after;

	start_anew();
	fill(1, 1);
	entries_make(&entry, 1, 0);
	path = cache_entry_path(NULL, dir, entry.key);
	assert_int_equal(os_stat(NULL, path, &before), 0);
	put(mem_string(NULL, made), entry.bytes, entry.size);
	addition = (struct cache_addition){
		.path = made, .key = entry.key, .key_bytes = entry.key_bytes, .sm = 86};
	live = open_with(NULL);
	unseen = os_base_name(path);
	assert_int_equal(cache_insert(&err, live, &addition, 1), -1);
	unseen = NULL;
	assert_int_equal(err.code, JW_ERR_MEMORY);
	assert_int_equal(cache_live_close(NULL, live), 0);
	assert_int_equal(os_stat(NULL, path, &after), 0);
	assert_int_equal(after.inode, before.inode);
	assert_consistent(1);
	mem_free(path);
	mem_free(made);
}

TEST_PROGRAM
{
	int failed = RUN_GROUP(make_folder, remove_folder);

	mem_free(state_dir);
	mem_free(library);
	return failed;
}
