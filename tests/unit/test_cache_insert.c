/* After an insert, the directory, its rights and its index are as a driver would leave them, and
 * invalid entries are refused. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"
#include "inserting.h"

static void assert_mode(const char *name, uint32_t mode)
{
	struct os_stat stat;

	OK(os_stat(why, keep(os_join(dir, name)), &stat));
	assert_int_equal(stat.mode, mode);
}

TEST(folders_of_a_shared_cache_are_shared)
{
	char name[CACHE_NAME_SIZE];
	mode_t mask = umask(077);

	start_anew();
	OK(os_make_shared_dirs(why, dir, 0755));
	fill(1, 1);
	(void)umask(mask);
	(void)cache_entry_name(name, key_of(1));
	assert_mode("", 0755);
	assert_mode("index", 0666);
	assert_mode(name, 0644);
	name[3] = '\0';
	assert_mode(name, 0755);
	name[1] = '\0';
	assert_mode(name, 0755);
}

TEST(nothing_is_lost_beside_an_unsound_index)
{
	static const struct {
		const char *what;
		uint8_t bytes[48];
		size_t size;
		bool mended;
	} cases[] = {
		{.what = "empty", .bytes = {0}},
		{.what = "cut header", .bytes = {0x41, 0, 0, 0, 1}, .size = 8, .mended = true},
		{.what = "cut rows", .bytes = {0x41, 0, 0, 0, 3}, .size = 48, .mended = true},
		{.what = "garbage",
		 .bytes = {'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd'},
		 .size = 40,
		 .mended = true},
		{.what = "zeros", .bytes = {0}, .size = 48, .mended = true},
		{.what = "no rows", .bytes = {0x41}, .size = 16},
		{.what = "no rows, wrong total",
		 .bytes = {0x41, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
		 .size = 16,
		 .mended = true},
		{.what = "a row of another file",
		 .bytes = {0x41, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 5},
		 .size = 32},
		{.what = "sizes that overflow",
		 .bytes = {0x41, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				   1,    2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		 .size = 32,
		 .mended = true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_live_counts counts;
		struct cache_live *live;

		start_anew();
		fill(1, 5);
		write_index(cases[i].bytes, cases[i].size);
		live = open_live(1 << 30, CACHE_FULL_REFUSE);
		OK(insert_one(why, live, 6, 0, NULL));
		cache_live_counts(live, &counts);
		OK(cache_live_close(why, live));
		assert_consistent(6);
		assert_int_equal(counts.counted, 5);
		if (counts.mended != cases[i].mended)
			fail_msg("%s: mended is %d", cases[i].what, counts.mended);
	}
}

TEST(invalid_entries_are_refused_and_the_rest_is_inserted)
{
	struct entries_entry entries[7];
	struct cache_addition additions[7];
	struct cache_live *live;

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	for (unsigned i = 0; i < 7; i++) {
		entries_make(&entries[i], i, 10);
		additions[i] = addition_of(&entries[i]);
	}
	additions[0].sm = 89;
	additions[1].form = CACHE_KEY_LINK;
	additions[2].key++;
	additions[3].key_bytes++;
	entries[4].bytes[entries[4].size - 1] ^= 1;
	additions[5].path = keep(os_join(folder, "absent/entry"));
	OK(cache_insert(why, live, additions, 7));
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(additions[i].added, CACHE_ADDED_REFUSED);
		assert_true(additions[i].why.message[0]);
	}
	assert_int_equal(additions[6].added, CACHE_ADDED_NEW);
	OK(cache_live_close(why, live));
	assert_consistent(1);
}

/* Drivers ignore what follows a value. */
TEST(nothing_follows_the_value_in_the_cache)
{
	struct entries_entry entry;
	struct cache_addition addition;
	struct cache_live *live;
	struct os_stat stat;
	char *path;

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	entries_make(&entry, 1, 0);
	addition = addition_of(&entry);
	addition.size_bytes += 8;
	OK(cache_insert(why, live, &addition, 1));
	OK(cache_live_close(why, live));
	path = keep(cache_entry_path(dir, entry.key));
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.size_bytes, entry.size);
	assert_consistent(1);
}

/* There are more entries than may wait beside the tree at a time, in parts as in a pack. */
TEST(many_in_parts_are_inserted)
{
	enum { MANY = 2 * 64 + 1 };
	static struct entries_entry entries[MANY];
	struct cache_part parts[MANY][2];
	struct cache_addition additions[MANY];
	struct cache_live *live;

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	for (unsigned i = 0; i < MANY; i++) {
		size_t head;

		entries_make(&entries[i], i, i);
		head = CACHE_ENTRY_HEADER + (size_t)entries[i].key_bytes;
		parts[i][0] = (struct cache_part){entries[i].bytes, head};
		parts[i][1] = (struct cache_part){entries[i].bytes + head, entries[i].size - head};
		additions[i] = addition_of(&entries[i]);
		additions[i].bytes = NULL;
		additions[i].parts = parts[i];
		additions[i].identity = &entries[i].identity;
		additions[i].part_count = 2;
		additions[i].verified = true;
	}
	OK(cache_insert(why, live, additions, MANY));
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(additions[i].added, CACHE_ADDED_NEW);
	OK(cache_live_close(why, live));
	assert_consistent(MANY);
}

/* Parts are refused if their sizes differ from the header's, or from the caller's. */
TEST(parts_are_as_long_as_they_say)
{
	enum { SOUND, VERSION, KEY, LONGER_KEY, VALUE, UNVERIFIED, NO_IDENTITY, CUT, CASES };
	struct cache_live *live;

	start_anew();
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	for (unsigned i = SOUND; i < CASES; i++) {
		struct entries_entry entry;
		struct cache_addition addition;
		struct cache_part parts[2];
		size_t head;

		entries_make(&entry, i, 40);
		head = CACHE_ENTRY_HEADER + (size_t)entry.key_bytes;
		addition = addition_of(&entry);
		parts[0] = (struct cache_part){entry.bytes, i == CUT ? CACHE_ENTRY_HEADER - 1 : head};
		parts[1] = (struct cache_part){entry.bytes + head, entry.size - head};
		addition.parts = parts;
		addition.identity = i == NO_IDENTITY ? NULL : &entry.identity;
		addition.part_count = 2;
		addition.verified = i != UNVERIFIED;
		if (i == VERSION)
			entry.bytes[0]++;
		if (i == KEY)
			addition.key_bytes--;
		if (i == LONGER_KEY) {
			addition.key_bytes = entry.size;
			store_u64(entry.bytes + 4, entry.size);
		}
		if (i == VALUE)
			store_u64(entry.bytes + 12, entry.size - head - 1);
		OK(cache_insert(why, live, &addition, 1));
		if ((addition.added == CACHE_ADDED_NEW) != (i == SOUND) ||
			(addition.why.code == JW_ERR_FORMAT) != (i != SOUND))
			fail_msg("%u: %d, %s", i, (int)addition.added, addition.why.message);
	}
	OK(cache_live_close(why, live));
	assert_consistent(1);
}

TEST(a_file_is_refused_as_a_directory)
{
	struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct cache_live *live;

	start_anew();
	OK(os_write_atomic(why, dir, "file", 4));
	GIVES(JW_ERR_UNSUPPORTED, cache_live_open(why, dir, &options, &live));
	assert_non_null(strstr(why->message, dir));
	OK(os_remove(why, dir));
}

/* The next run removes files that killed runs left beside the tree; a file without a lock only
 * after an hour, since a living run may own it. */
TEST(leftovers_are_swept)
{
	char *old = keep(os_join(dir, ".jitwarm-999999999-1")),
		 *young = keep(os_join(dir, ".jitwarm-999999999-2")),
		 *dead = keep(os_join(dir, ".jitwarm-999999999-3")),
		 *others = keep(os_join(dir, ".jitwarm-mine"));
	const struct timespec once[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	start_anew();
	OK(os_make_dirs(why, old, 0700));
	OK(os_make_dirs(why, young, 0700));
	OK(os_make_dirs(why, dead, 0700));
	OK(os_make_dirs(why, others, 0700));
	files_put_text(old, "entry", "torn");
	files_put_text(dead, "entry", "torn");
	files_put_text(dir, ".jitwarm-999999999-3.lock", "");
	assert_int_equal(utimensat(AT_FDCWD, old, once, 0), 0);
	fill(1, 1);
	assert_false(os_exists(old));
	assert_true(os_exists(young));
	assert_false(os_exists(dead));
	dead = keep(os_join(dir, ".jitwarm-999999999-3.lock"));
	assert_false(os_exists(dead));
	assert_true(os_exists(others));
}

/* A file that cannot be examined does not count as gone: its row stays. */
TEST(what_cannot_be_told_stays)
{
	struct cache_live *live;
	struct cache_index index;
	char name[CACHE_NAME_SIZE], *level;

	start_anew();
	fill(1, 2);
	(void)cache_entry_name(name, key_of(1));
	name[1] = '\0';
	level = keep(os_join(dir, name));
	OK(os_remove_tree(why, level));
	assert_int_equal(symlink(os_base_name(level), level), 0);
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	(void)cache_repair(NULL, live);
	(void)cache_live_close(NULL, live);
	OK(cache_index_load(why, dir, &index));
	assert_true(row_of(&index, key_of(1)));
	cache_index_free(&index);
}

RUN_TESTS(make_folder, remove_folder)
