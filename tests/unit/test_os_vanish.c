/* Another process removes folders right after they were made: the functions below replace those of
 * the C library, and remove at the worst moment. */
#include "check.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inserting.h"

/* The next calls that need this folder find it removed, so many times. */
static const char *vanishing;
static int times;

/* `next` is the C library's own function. */
#define VANISH_BEFORE(name)                                                                        \
	__typeof__(name) *next;                                                                        \
	*(void **)&next = dlsym(RTLD_NEXT, #name);                                                     \
	times -= times && !rmdir(vanishing)

int mkdirat(int at, const char *name, mode_t mode)
{
	VANISH_BEFORE(mkdirat);
	return next(at, name, mode);
}

int fchmodat(int at, const char *name, mode_t mode, int flags)
{
	VANISH_BEFORE(fchmodat);
	return next(at, name, mode, flags);
}

int fchmod(int fd, mode_t mode)
{
	VANISH_BEFORE(fchmod);
	return next(fd, mode);
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
	VANISH_BEFORE(renameat);
	return next(from_at, from, to_at, to);
}

enum { BEARABLE = 4, TOO_OFTEN = 1000 };

TEST(a_folder_that_vanishes_is_made_again)
{
	int (*const make[])(struct jw_error * err, const char *path,
						uint32_t mode) = {os_make_dirs, os_make_shared_dirs};
	char *above = keep(os_join(folder, "above")), *path = keep(os_join(above, "below"));

	for (size_t i = 0; i < sizeof make / sizeof *make; i++) {
		struct jw_error err = {0};

		vanishing = above;
		times = BEARABLE;
		assert_int_equal(make[i](NULL, path, 0700), 0);
		assert_int_equal(times, 0);
		assert_true(os_exists(path));
		OK(os_remove_tree(why, above));
		times = TOO_OFTEN;
		assert_int_equal(make[i](&err, path, 0700), -1);
		assert_int_equal(err.code, JW_ERR_NOT_FOUND);
		assert_true(times < TOO_OFTEN - 1);
		times = 0;
		(void)rmdir(above);
	}
}

/* Others remove files from the cache meanwhile: first, the folder's mode is set; then the entry is
 * moved. */
TEST(an_entry_reaches_a_folder_that_vanishes)
{
	struct cache_live *live;
	struct entries_entry entry;
	char *path, *level;

	start_anew();
	fill(1, 1);
	entries_make(&entry, 2, 0);
	path = keep(cache_entry_path(dir, entry.key));
	level = keep(os_dir_name(path));
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	vanishing = level;
	times = BEARABLE;
	OK(insert_one(why, live, 2, 0, NULL));
	assert_int_equal(times, 0);
	assert_true(os_exists(path));
	OK(os_remove(why, path));
	times = TOO_OFTEN;
	GIVES(JW_ERR_NOT_FOUND, insert_one(why, live, 2, 0, NULL));
	times = 0;
	OK(insert_one(why, live, 2, 0, NULL));
	OK(cache_live_close(why, live));
	assert_consistent(2);
}

RUN_TESTS(make_folder, remove_folder)
