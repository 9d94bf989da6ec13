/* A copy whose ranges are overwritten: what it says has changed is all that has. */
#include "files.h"
/* Behind those that have parameters of its names */
#include "folder.h"

#include "bake/baked_copy.h"
#include "base/mem.h"

enum { SIZE = 4096 };

struct written {
	uint64_t offset;
	size_t size;
	uint8_t value;
};

/* Overlapping, touching, equal to the original's bytes, zeros where something was written and where
 * nothing was, and beyond its end. */
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

	assert_int_equal(baked_copy_begin(NULL, path, map, output, ret_copy), 0);
	for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
		memset(bytes, writes[i].value, sizeof bytes);
		assert_int_equal(baked_copy_write(NULL, ret_copy, writes[i].offset, bytes, writes[i].size),
						 0);
	}
	baked_changes_end(&ret_copy->changes);
	baked_changes_end(&ret_copy->changes);
	assert_int_equal(baked_copy_complete(NULL, ret_copy), 0);
}

static bool in_ranges(const struct baked_changes *changes, uint64_t at)
{
	for (size_t i = 0; i < changes->count; i++)
		if (at - changes->ranges[i].offset < changes->ranges[i].size_bytes)
			return true;
	return false;
}

static void changes_are_what_differs(void **state)
{
	char *path = os_join(NULL, folder, "original"), *output = os_join(NULL, folder, "out/copy");
	uint8_t bytes[SIZE];
	struct baked_copy copy;
	struct os_map map;
	struct buf after;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = original_byte(i);
	assert_int_equal(os_write_atomic(NULL, path, bytes, SIZE), 0);
	assert_int_equal(os_map_open(NULL, path, &map), 0);
	assert_int_equal(baked_copy_begin(NULL, path, &map, path, &copy), -1);
	write_all(path, output, &map, &copy);
	assert_int_equal(copy.changes.size_before_bytes, SIZE);
	assert_int_equal(copy.changes.size_after_bytes, SIZE + 80);
	for (size_t i = 1; i < copy.changes.count; i++)
		assert_true(copy.changes.ranges[i].offset >
					copy.changes.ranges[i - 1].offset + copy.changes.ranges[i - 1].size_bytes);
	/* What is equal is not noted: 40, and nothing else below 100. */
	assert_int_equal(copy.changes.ranges[0].offset, 100);
	assert_int_equal(copy.changes.ranges[0].size_bytes, 80);
	assert_int_equal(os_read_file(NULL, copy.part, 1 << 20, &after), 0);
	assert_int_equal(after.size, SIZE + 80);
	for (size_t i = 0; i < after.size; i++)
		if (!in_ranges(&copy.changes, i))
			assert_int_equal(after.data[i], i < SIZE ? original_byte(i) : 0);
	assert_int_equal(after.data[119], 1);
	assert_int_equal(after.data[120], 2);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(after.data[130 + i] | after.data[200 + i] | after.data[210 + i], 0);
	assert_int_equal(after.data[SIZE + 79], 5);
	buf_free(&after);
	assert_int_equal(baked_copy_finish(NULL, &copy, 0644), 0);
	os_map_close(&map);
	mem_free(path);
	mem_free(output);
}

/* Another file has its name: before it is copied, and before the copy gets its place. */
static void a_changed_original_is_refused(void **state)
{
	char *path = os_join(NULL, folder, "changing"), *output = os_join(NULL, folder, "out/copy2");
	const uint8_t bytes[SIZE] = {0};

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct jw_error why = {0};
		struct baked_copy copy;
		struct os_map map;

		assert_int_equal(os_write_atomic(NULL, path, bytes, SIZE), 0);
		assert_int_equal(os_map_open(NULL, path, &map), 0);
		if (late)
			assert_int_equal(baked_copy_begin(NULL, path, &map, output, &copy), 0);
		/* Windows keeps a mapped file in its place. */
		if (os_write_atomic(NULL, path, "other", 5)) {
			os_map_close(&map);
			mem_free(path);
			mem_free(output);
			skip();
		}
		assert_int_equal(late ? baked_copy_finish(&why, &copy, 0644)
							  : baked_copy_begin(&why, path, &map, output, &copy),
						 -1);
		assert_int_equal(why.code, JW_ERR_IO);
		assert_non_null(strstr(why.message, "was changed while it was baked"));
		assert_false(os_exists(output));
		os_map_close(&map);
	}
	mem_free(path);
	mem_free(output);
}

/* Nobody else reads a copy of a secret library before it is complete. */
static void an_unfinished_copy_is_secret(void **state)
{
	char *path = os_join(NULL, folder, "secret"), *output = os_join(NULL, folder, "out/copy3");
	const uint8_t bytes[SIZE] = {1};
	struct os_stat stat;
	struct os_map map;

	(void)state;
	assert_int_equal(os_write_secret(NULL, path, bytes, SIZE), 0);
	assert_int_equal(os_map_open(NULL, path, &map), 0);
	for (int beside = 0; beside < 2; beside++) {
		struct baked_copy copy;

		assert_int_equal(beside ? baked_copy_begin_beside(NULL, output, &map, path, &copy)
								: baked_copy_begin(NULL, path, &map, output, &copy),
						 0);
		assert_int_equal(os_stat(NULL, copy.part, &stat), 0);
		assert_int_equal(stat.mode & 0777, 0600);
		assert_int_equal(stat.size_bytes, SIZE);
		if (beside) {
			char *part = mem_string(NULL, copy.part);

			baked_copy_drop(&copy);
			assert_false(os_exists(part));
			mem_free(part);
		} else {
			assert_int_equal(baked_copy_finish(NULL, &copy, 0644), 0);
		}
	}
	os_map_close(&map);
	assert_int_equal(os_stat(NULL, output, &stat), 0);
#ifndef _WIN32
	assert_int_equal(stat.mode & 0777, 0644);
#endif
	mem_free(path);
	mem_free(output);
}

/* Small changes behind what is settled, zeros among them, and bytes that nothing changes: the copy
 * is what was written, wherever it was settled. */
static void what_is_settled_may_change(void **state)
{
	enum { LARGE = 20 << 20, EACH = 3 << 20, MOST = 100 };
	static const struct written later[] = {{10, 50, 0},
										   {EACH + 5, 40, 6},
										   {3 * EACH - 20, 40, 0},
										   {5 * EACH, 90, 7},
										   {6 * EACH - 90, 60, 0}};
	char *path = os_join(NULL, folder, "large"), *output = os_join(NULL, folder, "out/copy4");
	uint8_t *expected = mem_alloc(NULL, LARGE), bytes[MOST];
	struct baked_copy copy;
	struct os_map map;
	struct buf after;

	(void)state;
	for (size_t i = 0; i < LARGE; i++)
		expected[i] = (uint8_t)(1 + i % 251);
	assert_int_equal(os_write_atomic(NULL, path, expected, LARGE), 0);
	assert_int_equal(os_map_open(NULL, path, &map), 0);
	assert_int_equal(baked_copy_begin(NULL, path, &map, output, &copy), 0);
	for (size_t i = 0; i < LARGE / EACH; i++) {
		memset(bytes, (int)(i % 3), MOST);
		memset(expected + i * EACH + i, (int)(i % 3), MOST);
		assert_int_equal(baked_copy_write(NULL, &copy, i * EACH + i, bytes, MOST), 0);
		assert_int_equal(baked_copy_settle(NULL, &copy, (i + 1) * EACH), 0);
	}
	assert_int_equal(copy.settled, 6 * EACH);
	for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
		memset(bytes, later[i].value, MOST);
		memset(expected + later[i].offset, later[i].value, later[i].size);
		assert_int_equal(baked_copy_write(NULL, &copy, later[i].offset, bytes, later[i].size), 0);
	}
	assert_int_equal(baked_copy_finish(NULL, &copy, 0644), 0);
	os_map_close(&map);
	assert_int_equal(os_read_file(NULL, output, LARGE + 1, &after), 0);
	assert_int_equal(after.size, LARGE);
	assert_memory_equal(after.data, expected, LARGE);
	buf_free(&after);
	mem_free(expected);
	mem_free(path);
	mem_free(output);
}

/* As the checksum of a PE file whose headers have moved: its bytes may be those that the original
 * has there, and other ones were written meanwhile. */
static void the_last_write_counts(void **state)
{
	char *path = os_join(NULL, folder, "summed"), *output = os_join(NULL, folder, "out/copy5");
	const uint8_t other[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t bytes[SIZE] = {0};
	struct baked_copy copy;
	struct os_map map;
	struct buf after;

	(void)state;
	assert_int_equal(os_write_atomic(NULL, path, bytes, SIZE), 0);
	assert_int_equal(os_map_open(NULL, path, &map), 0);
	assert_int_equal(baked_copy_begin(NULL, path, &map, output, &copy), 0);
	assert_int_equal(baked_copy_write(NULL, &copy, 100, other, sizeof other), 0);
	assert_int_equal(baked_copy_complete(NULL, &copy), 0);
	bytes[103] = 9;
	assert_int_equal(baked_copy_write(NULL, &copy, 100, bytes + 100, sizeof other), 0);
	assert_int_equal(baked_copy_finish(NULL, &copy, 0644), 0);
	os_map_close(&map);
	assert_int_equal(os_read_file(NULL, output, SIZE + 1, &after), 0);
	assert_int_equal(after.size, SIZE);
	assert_memory_equal(after.data, bytes, SIZE);
	buf_free(&after);
	mem_free(path);
	mem_free(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_what_differs), cmocka_unit_test(what_is_settled_may_change),
		cmocka_unit_test(the_last_write_counts), cmocka_unit_test(a_changed_original_is_refused),
		cmocka_unit_test(an_unfinished_copy_is_secret)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
