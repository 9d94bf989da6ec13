/* A copy differs from its original in the written ranges and nowhere else, and a changed original
 * is refused. */
#include "files.h"
/* This header must follow those that have parameters with its names. */
#include "folder.h"

#include "bake/baked_copy.h"
#include "base/mem.h"

enum { SIZE = 4096 };

struct written {
	uint64_t offset;
	size_t size;
	uint8_t value;
};

/* The ranges overlap, touch, equal the original's bytes, write zeros over a former write and
 * elsewhere, or lie beyond the file's end. */
static const struct written writes[] = {
	{100, 50, 1}, {120, 60, 2}, {130, 10, 0},     {40, 10, 0},        {200, 20, 0},
	{300, 1, 9},  {301, 9, 3},  {SIZE - 8, 8, 4}, {SIZE + 64, 16, 5},
};

static uint8_t original_byte(size_t at)
{
	return at < 64 ? 0 : (uint8_t)(at * 7);
}

static void write_all(const char *path, const char *output, const struct os_map *map,
					  struct baked_copy *ret_copy)
{
	uint8_t bytes[64];

	OK(baked_copy_begin(why, path, map, output, NULL, ret_copy));
	for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
		memset(bytes, writes[i].value, sizeof bytes);
		OK(baked_copy_write(why, ret_copy, writes[i].offset, bytes, writes[i].size));
	}
}

TEST(changes_are_what_differs)
{
	char *path = keep(os_join(folder, "original")), *output = keep(os_join(folder, "out/copy"));
	uint8_t bytes[SIZE], expected[SIZE + 80] = {0};
	struct baked_copy copy;
	struct os_map map;
	struct buf after;

	for (size_t i = 0; i < SIZE; i++)
		expected[i] = bytes[i] = original_byte(i);
	for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
		memset(expected + writes[i].offset, writes[i].value, writes[i].size);
	OK(os_write_atomic(why, path, bytes, SIZE));
	OK(os_map_open(why, path, &map));
	assert_int_equal(baked_copy_begin(NULL, path, &map, path, NULL, &copy), -1);
	write_all(path, output, &map, &copy);
	assert_int_equal(copy.size_bytes, SIZE + 80);
	OK(os_read_file(why, copy.part, 1 << 20, &after));
	assert_int_equal(after.size, SIZE + 80);
	assert_memory_equal(after.data, expected, sizeof expected);
	buf_free(&after);
	OK(baked_copy_finish(why, &copy, 0644));
	os_map_close(&map);
}

/* Another file gets the original's name: before it is copied, and before the copy gets its place.
 * */
TEST(a_changed_original_is_refused)
{
	char *path = keep(os_join(folder, "changing")), *output = keep(os_join(folder, "out/copy2"));
	const uint8_t bytes[SIZE] = {0};

	for (int late = 0; late < 2; late++) {
		struct baked_copy copy;
		struct os_map map;

		OK(os_write_atomic(why, path, bytes, SIZE));
		OK(os_map_open(why, path, &map));
		if (late)
			OK(baked_copy_begin(why, path, &map, output, NULL, &copy));
		/* Windows keeps a mapped file in its place. */
		if (os_write_atomic(NULL, path, "other", 5)) {
			os_map_close(&map);
			skip();
		}
		GIVES(JW_ERR_IO, late ? baked_copy_finish(why, &copy, 0644)
							  : baked_copy_begin(why, path, &map, output, NULL, &copy));
		assert_non_null(strstr(why->message, "was changed while it was baked"));
		assert_false(os_exists(output));
		os_map_close(&map);
	}
}

/* The original is written again with its old size and time, too: the system's own time of the
 * change shows it. */
TEST(each_mark_of_the_original_counts)
{
	char *path = keep(os_join(folder, "marked"));
	const struct baked_copy copy = {.path = path};
	struct os_stat stat;

	OK(os_write_atomic(why, path, "marked", 6));
	OK(os_stat(why, path, &stat));
	OK(baked_copy_check(why, copy.path, &stat));
	for (int mark = 0; mark < 5; mark++) {
		struct os_stat before = stat;

		before.device += mark == 0;
		before.inode += mark == 1;
		before.size_bytes += mark == 2;
		before.mtime_ns += mark == 3;
		before.changed_ns += mark == 4;
		assert_int_equal(baked_copy_check(NULL, copy.path, &before), -1);
	}
}

/* No other account can read the copy of a secret library before it is complete. */
TEST(an_unfinished_copy_is_secret)
{
	char *path = keep(os_join(folder, "secret")), *output = keep(os_join(folder, "out/copy3"));
	const uint8_t bytes[SIZE] = {1};
	struct baked_copy copy;
	struct os_stat stat;
	struct os_map map;

	OK(os_write_mode(why, path, bytes, SIZE, 0600));
	OK(os_map_open(why, path, &map));
	OK(baked_copy_begin(why, path, &map, output, NULL, &copy));
	OK(os_stat(why, copy.part, &stat));
	assert_int_equal(stat.mode & 0777, 0600);
	assert_int_equal(stat.size_bytes, SIZE);
	OK(baked_copy_finish(why, &copy, 0644));
	os_map_close(&map);
	OK(os_stat(why, output, &stat));
#ifndef _WIN32
	assert_int_equal(stat.mode & 0777, 0644);
#endif
}

/* Space of any size is cleared to its end, and nothing beside it. */
TEST(a_room_is_cleared_to_its_end)
{
	enum { LARGE = 200000, FROM = 1000, SIZES = 3 };
	static const size_t sizes[SIZES] = {1 << 16, (1 << 16) + 1, LARGE - 2 * FROM};
	char *path = keep(os_join(folder, "large")), *output = keep(os_join(folder, "out/copy4"));
	uint8_t *bytes = keep(mem_array(LARGE, 1));

	memset(bytes, 1, LARGE);
	OK(os_write_atomic(why, path, bytes, LARGE));
	for (size_t i = 0; i < SIZES; i++) {
		struct baked_copy copy;
		struct buf after = {0};
		struct os_map map;

		OK(os_map_open(why, path, &map));
		OK(baked_copy_begin(why, path, &map, output, NULL, &copy));
		OK(baked_copy_clear(why, &copy, FROM, sizes[i]));
		OK(baked_copy_finish(why, &copy, 0644));
		os_map_close(&map);
		memset(bytes, 1, LARGE);
		memset(bytes + FROM, 0, sizes[i]);
		OK(os_read_file(why, output, LARGE, &after));
		assert_int_equal(after.size, LARGE);
		assert_memory_equal(after.data, bytes, LARGE);
		buf_free(&after);
	}
}

RUN_TESTS(make_folder, remove_folder)
