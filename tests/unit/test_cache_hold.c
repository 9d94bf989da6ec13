/* The index's lock excludes others, is held for a few milliseconds, and is released. The clock is
 * this program's own. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cache/remove.h"
#include "held_lock.h"
#include "index_bytes.h"
#include "open_files.h"

/* Each reading of the clock adds this many nanoseconds to all later ones. */
static int64_t step_ns, skew_ns;

/* libuv reads the clock through this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int result = (int)syscall(SYS_clock_gettime, clock, time);

	skew_ns += step_ns;
	time->tv_sec += skew_ns / 1000000000;
	time->tv_nsec += skew_ns % 1000000000;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
	return result;
}

static unsigned pauses;

/* While this is set, another process tries the index's lock at each write. */
static bool tries_at_writes;
static unsigned tries, taken;

static void try_the_lock(void)
{
	pid_t child;
	int release;

	tries_at_writes = false;
	release = hold_lock(true, &child);
	tries++;
	if (release >= 0) {
		taken++;
		end_lock(release, child);
	}
	tries_at_writes = true;
}

/* libuv writes through this function. */
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *bytes, size_t size,
														off_t offset)
{
	if (tries_at_writes)
		try_the_lock();
	return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *asked,
													 struct timespec *left)
{
	pauses++;
	return (int)syscall(SYS_nanosleep, asked, left);
}

/* The lock is free between two inserts through one handle. */
TEST(the_lock_is_let_go_of)
{
	struct cache_live *live;
	size_t before;
	pid_t child;
	int release;

	start_anew();
	fill(1, 1);
	before = open_files();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(insert_one(why, live, 2, 0, NULL));
	assert_int_equal(open_files(), before + 1); /* the lock of the folder for staged files */
	release = hold_lock(true, &child);
	assert_true(release >= 0);
	end_lock(release, child);
	OK(cache_live_close(why, live));
}

/* Two programs that write at once would lose rows. */
TEST(the_lock_is_held_while_the_index_is_written)
{
	struct entries_entry entry;
	struct cache_addition addition;
	struct cache_live *live;
	struct cache_live_counts counts;
	struct os_file *file;

	start_anew();
	fill(1, 1);
	/* Such a try is at a write, and succeeds if nobody holds the lock. */
	tries = taken = 0;
	OK(os_file_open(why, keep(os_join(dir, "index")), OS_OPEN_UPDATE, &file));
	tries_at_writes = true;
	OK(os_file_write(why, file, 0, "A", 1));
	tries_at_writes = false;
	os_file_close(file);
	assert_int_equal(tries, 1);
	assert_int_equal(taken, 1);

	entries_make(&entry, 2, 0);
	addition = addition_of(&entry);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(cache_repair(why, live));
	tries = taken = 0;
	tries_at_writes = true;
	OK(cache_insert(why, live, &addition, 1));
	tries_at_writes = false;
	/* The entry's own file is written before the lock is taken; then the rows, and the header. */
	assert_int_equal(tries, 3);
	assert_int_equal(taken, 1);
	cache_live_counts(live, &counts);
	assert_int_equal(counts.added, 1);
	OK(cache_live_close(why, live));
	assert_consistent(2);
}

/* The clock advances by a second at each reading. The patience is the default. */
TEST(the_usual_patience_lasts_five_seconds)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct cache_live *live;
	pid_t child;
	int release;

	start_anew();
	fill(1, 1);
	OK(cache_live_open(why, dir, &options, &live));
	release = hold_lock(true, &child);
	assert_true(release >= 0);
	pauses = 0;
	step_ns = 1000000000;
	GIVES(JW_ERR_BUSY, insert_one(why, live, 2, 0, NULL));
	step_ns = 0;
	/* There is one pause between two reads; this machine's own time comes on top. */
	assert_in_range(pauses, 2, 4);
	end_lock(release, child);
	OK(cache_live_close(why, live));
}

/* The clock advances by two milliseconds at each reading, so that work that takes one hold on a
 * fast machine needs several. */
TEST(a_hold_has_an_end)
{
	enum { ENTRIES = 20 };
	struct entries_entry entries[ENTRIES];
	struct cache_addition additions[ENTRIES];
	struct cache_live_counts counts;
	struct cache_live *live;

	start_anew();
	fill(1, 1);
	for (unsigned i = 0; i < ENTRIES; i++) {
		entries_make(&entries[i], i + 2, 0);
		additions[i] = addition_of(&entries[i]);
	}
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	step_ns = 2000000;
	OK(cache_insert(why, live, additions, ENTRIES));
	step_ns = 0;
	cache_live_counts(live, &counts);
	assert_true(counts.holds > ENTRIES / 4);
	assert_true(counts.longest_hold_ns >= 2000000);
	OK(cache_live_close(why, live));
	assert_consistent(ENTRIES + 1);
}

/* Drivers get the lock between two holds. The hold that makes the index sound and the first part of
 * the repair follow each other at once; reading an unsound index again takes a pause and a hold,
 * too. */
TEST(a_repair_pauses_between_its_holds)
{
	enum { ENTRIES = 20 };
	struct cache_live_counts counts;
	struct cache_live *live;

	start_anew();
	fill(1, ENTRIES);
	write_index("", 0);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	pauses = 0;
	step_ns = 2000000;
	OK(cache_repair(why, live));
	step_ns = 0;
	cache_live_counts(live, &counts);
	assert_true(counts.holds > ENTRIES / 4);
	assert_int_equal(pauses, counts.holds - 2);
	OK(cache_live_close(why, live));
	assert_consistent(ENTRIES);
}

/* Before the first of these, there is one hold that makes the index sound. */
TEST(a_removal_pauses_between_its_holds)
{
	enum { ENTRIES = 20 };
	struct cache_removal removals[ENTRIES] = {{0}};
	struct cache_live_counts counts;
	struct cache_live *live;

	start_anew();
	fill(1, ENTRIES + 1);
	for (unsigned i = 0; i < ENTRIES; i++) {
		removals[i].key = key_of(i + 1);
		(void)cache_presence(dir, removals[i].key, 0, &removals[i].probed);
	}
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	pauses = 0;
	step_ns = 2000000;
	OK(cache_remove(why, live, removals, ENTRIES));
	step_ns = 0;
	cache_live_counts(live, &counts);
	assert_true(counts.holds > ENTRIES / 4);
	assert_int_equal(pauses, counts.holds - 2);
	OK(cache_live_close(why, live));
	assert_consistent(1);
}

static void set_age(uint64_t key, time_t seconds)
{
	const struct timespec times[2] = {{seconds, 0}, {seconds, 0}};

	assert_int_equal(utimensat(AT_FDCWD, keep(cache_entry_path(dir, key)), times, 0), 0);
}

/* The driver evicts from the front. */
TEST(the_oldest_orphan_has_the_first_row)
{
	/* These orders differ from those of names and of numbers. */
	static const unsigned by_age[] = {3, 1, 5, 2, 4};
	enum { COUNT = sizeof by_age / sizeof *by_age };
	struct cache_index index;
	struct cache_live *live;

	start_anew();
	fill(1, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		set_age(key_of(by_age[i]), 1000000000 + (time_t)i);
	write_index("", 0);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(cache_repair(why, live));
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(index.rows[i].key, key_of(by_age[i]));
	cache_index_free(&index);
}

/* Another process has removed the row, and there is no space for it now. */
TEST(rows_beyond_the_limit_are_not_restored)
{
	struct entries_entry entry;
	struct cache_live_counts counts;
	struct cache_live *live;
	struct cache_index index;
	struct buf bytes = {0};

	start_anew();
	fill(1, 2);
	entries_make(&entry, 3, 0);
	live = open_live(4 * entry.row_bytes, CACHE_FULL_REFUSE);
	OK(insert_one(why, live, 3, 0, NULL));
	fill(10, 11);
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, 5);
	assert_int_equal(index.rows[2].key, entry.key);
	memmove(&index.rows[2], &index.rows[3], 2 * sizeof *index.rows);
	index.count--;
	bytes = index_bytes(&index);
	write_index(bytes.data, bytes.size);
	buf_free(&bytes);
	cache_index_free(&index);

	cache_live_counts(live, &counts);
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_int_equal(index.count, 4);
	assert_int_equal(counts.restored, 0);
	cache_index_free(&index);
}

/* No driver writes this: of several rows for a file one stays, and the total is that of the files.
 * */
TEST(a_repeated_row_counts_once)
{
	struct cache_live_counts counts;
	struct cache_index index;
	struct cache_row rows[5];
	struct cache_live *live;
	struct buf bytes = {0};

	start_anew();
	fill(1, 3);
	OK(cache_index_load(why, dir, &index));
	memcpy(rows, index.rows, 3 * sizeof *rows);
	rows[3] = rows[0];
	rows[4] = rows[1];
	cache_index_free(&index);
	index = (struct cache_index){.rows = rows, .count = 5};
	bytes = index_bytes(&index);
	write_index(bytes.data, bytes.size);
	buf_free(&bytes);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(insert_one(why, live, 4, 0, NULL));
	/* If an entry replaces itself, its row moves to the end. */
	OK(insert_one(why, live, 2, 0, NULL));
	cache_live_counts(live, &counts);
	assert_int_equal(counts.dropped, 2);
	OK(cache_live_close(why, live));
	assert_consistent(4);
}

RUN_TESTS(make_folder, remove_folder)
