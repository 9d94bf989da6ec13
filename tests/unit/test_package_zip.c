/* Zip files that bake reads and writes: 64-bit sizes, other content, what is left out. */
#include "check.h"
/* Behind those that have parameters of its names */
#include "folder.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "package/wheel_edit.h"
#include "package/zip_write.h"

static const struct zip_bytes none = {0};

/* Opens what `writer` wrote; the caller closes both. */
static void read_back(const char *path, struct os_map *map, struct zip_directory *directory)
{
	assert_int_equal(os_map_open(NULL, path, map), 0);
	assert_int_equal(zip_directory_read(NULL, map->data, map->size, directory), 0);
}

static void large_sizes_are_kept(void **state)
{
	static const uint8_t extra[] = {0x55, 0x54, 1, 0, 7, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	const struct os_map from = {.data = (const uint8_t *)"packed", .size = 6};
	const struct zip_member member = {.packed_bytes = 6,
									  .size_bytes = UINT64_C(5) << 30,
									  .method = ZIP_DEFLATED,
									  .flags = 1 << 3,
									  .needed = 20,
									  .external = 0100755u << 16,
									  .extra = {extra, sizeof extra},
									  .local_extra = {extra, 5}};
	char *path = os_join(NULL, folder, "large.zip");
	struct zip_directory directory;
	struct zip_writer *writer;
	struct os_file *file;
	struct os_map map;

	(void)state;
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
	assert_int_equal(zip_writer_open(NULL, file, 3, &writer), 0);
	assert_int_equal(zip_writer_copy(NULL, writer, 2, &from, &member, "b", NULL), 0);
	assert_int_equal(zip_writer_copy(NULL, writer, 0, &from, &member, "a", NULL), 0);
	assert_int_equal(zip_writer_finish(NULL, writer, none), 0);
	zip_writer_close(writer);
	os_file_close(file);
	read_back(path, &map, &directory);
	assert_int_equal(directory.count, 2);
	assert_string_equal(directory.members[0].name, "a");
	assert_true(directory.members[0].data_offset > directory.members[1].data_offset);
	for (size_t i = 0; i < 2; i++) {
		const struct zip_member *got = &directory.members[i];

		assert_true(got->size_bytes == member.size_bytes && got->packed_bytes == 6);
		assert_int_equal(got->needed, ZIP64_VERSION);
		assert_int_equal(got->flags, 0);
		assert_memory_equal(map.data + got->data_offset, "packed", 6);
		/* The other field stays, behind the new one: 4 and 8 bytes, in the own header 16. */
		assert_int_equal(got->extra.size, 12 + 5);
		assert_int_equal(got->local_extra.size, 20 + 5);
		assert_memory_equal(got->extra.data + 12, extra, 5);
	}
	zip_directory_free(&directory);
	os_map_close(&map);
	mem_free(path);
}

static void new_content_is_packed(void **state)
{
	static char text[3 << 20];
	char *path = os_join(NULL, folder, "new.zip");
	const struct zip_member member = {.needed = 10, .flags = 1 << 11 | 1 << 3 | 1 << 1};
	struct zip_directory directory;
	struct zip_writer *writer;
	struct os_file *file;
	struct buf content;
	struct os_map map;

	(void)state;
	memset(text, 'x', sizeof text);
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
	assert_int_equal(zip_writer_open(NULL, file, 2, &writer), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(
			zip_writer_begin(NULL, writer, i, &member, i ? "stored" : "packed", !i, sizeof text),
			0);
		assert_int_equal(zip_writer_put(NULL, writer, text, sizeof text / 2), 0);
		assert_int_equal(zip_writer_put(NULL, writer, text, sizeof text / 2), 0);
		assert_int_equal(zip_writer_end(NULL, writer), 0);
	}
	assert_int_equal(zip_writer_finish(NULL, writer, none), 0);
	/* Content of another length than was promised */
	assert_int_equal(zip_writer_begin(NULL, writer, 1, &member, "x", true, 5), 0);
	assert_int_equal(zip_writer_put(NULL, writer, text, 4), 0);
	assert_int_equal(zip_writer_end(NULL, writer), -1);
	zip_writer_close(writer);
	assert_int_equal(os_file_truncate(NULL, file, 0), 0);
	os_file_close(file);
	mem_free(path);
	path = os_join(NULL, folder, "again.zip");
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
	assert_int_equal(zip_writer_open(NULL, file, 1, &writer), 0);
	assert_int_equal(zip_writer_begin(NULL, writer, 0, &member, "packed", true, sizeof text), 0);
	assert_int_equal(zip_writer_put(NULL, writer, text, sizeof text), 0);
	assert_int_equal(zip_writer_end(NULL, writer), 0);
	assert_int_equal(zip_writer_finish(NULL, writer, none), 0);
	zip_writer_close(writer);
	os_file_close(file);
	read_back(path, &map, &directory);
	assert_int_equal(directory.members[0].flags, 1 << 11);
	assert_int_equal(directory.members[0].needed, 20);
	assert_true(directory.members[0].packed_bytes < 10000);
	assert_int_equal(zip_member_read(NULL, &map, &directory.members[0], sizeof text, &content), 0);
	assert_int_equal(content.size, sizeof text);
	assert_memory_equal(content.data, text, sizeof text);
	buf_free(&content);
	assert_int_equal(zip_member_read(NULL, &map, &directory.members[0], sizeof text - 1, &content),
					 -1);
	zip_directory_free(&directory);
	os_map_close(&map);
	mem_free(path);
}

static void check_version(const char *old, const char *wanted)
{
	static const struct jw_target gpus[] = {{.sm = 86}, {.sm = 90, .suffix = 'a'}};
	char *version = wheel_edit_version(NULL, old, gpus, 2);

	assert_string_equal(version ? version : "none", wanted);
	mem_free(version);
}

static void versions_get_a_label(void **state)
{
	(void)state;
	check_version("1.0", "1.0+jitwarm.sm86.sm90a");
	check_version("1!2.0rc1.post2", "1!2.0rc1.post2+jitwarm.sm86.sm90a");
	check_version("1.0+CU12-1_x", "1.0+cu12.1.x.jitwarm.sm86.sm90a");
	check_version("1.0+jitwarm.sm86", "1.0+jitwarm.sm86.sm90a");
	check_version("1.0+jitwarm.sm86.sm90a", "1.0+jitwarm.sm86.sm90a");
	check_version("1.0+sm86", "1.0+sm86.jitwarm.sm86.sm90a");
	check_version("1.0+jitwarm.sm860", "1.0+jitwarm.sm860.sm86.sm90a");
	check_version("1.0+notjitwarm.sm90", "1.0+notjitwarm.sm90.jitwarm.sm86.sm90a");
	check_version("1.0+", "none");
	check_version("1.0+a..b", "none");
	check_version("1.0+a.", "none");
	check_version("1.0+a+b", "none");
	check_version("1.0/2", "none");
	check_version("", "none");
	check_version("x", "none");
}

static void check_file_name(const char *name, const char *wanted)
{
	char *got = wheel_edit_file_name(NULL, name, "1.0-1", "1.0-1+jitwarm.sm86");

	assert_string_equal(got ? got : "none", wanted);
	mem_free(got);
}

static void file_names_get_the_version(void **state)
{
	(void)state;
	check_file_name("a-1.0_1-py3-none-any.whl", "a-1.0_1+jitwarm.sm86-py3-none-any.whl");
	check_file_name("a-1.0_1-3x-py3-none-any.whl", "a-1.0_1+jitwarm.sm86-3x-py3-none-any.whl");
	check_file_name("a-1.0.post1-py3-none-any.whl", "none");
	check_file_name("a-1.0_1-x3-py3-none-any.whl", "none");
	check_file_name("a-1.0_1-none-any.whl", "none");
	check_file_name("a-1.0_1-1-2-py3-none-any.whl", "none");
	check_file_name("-1.0_1-py3-none-any.whl", "none");
	check_file_name("a-1.0_1-py3-none-any.zip", "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(large_sizes_are_kept, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(new_content_is_packed, make_folder, remove_folder),
		cmocka_unit_test(versions_get_a_label),
		cmocka_unit_test(file_names_get_the_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
