/* Files, directories and locks follow the same rules on every system. */
#include "check.h"

#include <string.h>

#include "folder.h"
#include "os/file.h"
#include "os/platform.h"

static char *inside(const char *name)
{
	char *path = os_join(folder, name);

	assert_non_null(path);
	return path;
}

TEST(an_atomic_write_is_read_back)
{
	char *path = keep(inside("written"));
	struct buf content = {0};
	struct os_map map;

	OK(os_write_atomic(why, path, "one", 3));
	OK(os_write_atomic(why, path, "three", 5));
	OK(os_read_file(why, path, 100, &content));
	assert_string_equal(buf_text(&content), "three");
	OK(os_map_open(why, path, &map));
	assert_int_equal(map.size, 5);
	assert_memory_equal(map.data, "three", 5);
	os_map_close(&map);
	buf_free(&content);
}

TEST(a_path_other_than_a_file_is_refused_by_name)
{
	char *absent = keep(inside("absent/file"));
	const struct {
		const char *path;
		enum jw_code code;
	} cases[] = {{absent, JW_ERR_NOT_FOUND},
				 {folder, JW_ERR_UNSUPPORTED},
				 {"/dev/null", JW_ERR_UNSUPPORTED}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct os_map map;

		GIVES(cases[i].code, os_map_open(why, cases[i].path, &map));
		assert_non_null(strstr(why->message, cases[i].path));
	}
}

#ifndef _WIN32
/* The kernel's file has the size of a page and a number as content; GPUs and batteries are found
 * through such files. */
TEST(a_file_of_the_kernel_is_as_long_as_its_content)
{
	static const char path[] = "/sys/class/net/lo/mtu";
	struct buf content = {0};
	struct os_stat stat;

	if (os_stat(NULL, path, &stat) || stat.size_bytes <= 64)
		skip();
	OK(os_read_file(why, path, 64, &content));
	assert_in_range(content.size, 2, 12);
	assert_in_range(content.data[0], '0', '9');
	buf_free(&content);
}
#endif

TEST(a_file_past_the_limit_is_refused)
{
	char *path = keep(inside("long"));
	struct buf content = {0};

	OK(os_write_atomic(why, path, "0123456789", 10));
	GIVES(JW_ERR_LIMIT, os_read_file(why, path, 9, &content));
	OK(os_read_file(why, path, 10, &content));
	buf_free(&content);
}

TEST(directories_are_made_listed_and_removed)
{
	char *deep = keep(inside("a/b/c")), *file = keep(inside("a/x")), *top = keep(inside("a"));
	struct os_names names;

	OK(os_make_dirs(why, deep, 0700));
	OK(os_make_dirs(why, deep, 0700));
	OK(os_write_atomic(why, file, "", 0));
	OK(os_list(why, top, &names));
	assert_int_equal(names.count, 2);
	assert_string_equal(names.items[0], "b");
	assert_int_equal(names.kinds[0], OS_DIRECTORY);
	assert_string_equal(names.items[1], "x");
	assert_int_equal(names.kinds[1], OS_REGULAR);
	os_names_free(&names);
	OK(os_remove_tree(why, top));
	assert_false(os_exists(top));
}

TEST(directories_that_cannot_be_made_are_not_said_to_be_there)
{
	char *file = keep(inside("no-folder")), *below = keep(inside("no-folder/a/b")), *too_long;
	char name[301];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	too_long = keep(inside(name));
	OK(os_write_atomic(why, file, "", 0));
	assert_int_equal(os_make_dirs(NULL, file, 0700), -1);
	assert_int_equal(os_make_dirs(NULL, below, 0700), -1);
	assert_int_equal(os_make_dirs(NULL, too_long, 0700), -1);
}

/* tests/cli/cases/accounts.sh has the cases that need other accounts. */
TEST(write_access_is_checked_without_writing)
{
	char *file = keep(inside("plain")), *missing = keep(inside("no/such/folder")),
		 *below = keep(inside("plain/sub"));
	char *near_missing = keep(os_nearest(missing));

	assert_string_equal(near_missing, folder);
	OK(os_write_atomic(why, file, "x", 1));
	OK(os_may_write(why, folder));
	OK(os_may_write(why, file));
	GIVES(JW_ERR_NOT_FOUND, os_may_write(why, missing));
	OK(os_may_make(why, folder));
	OK(os_may_make(why, missing));
	assert_false(os_exists(missing));
	GIVES(JW_ERR_UNSUPPORTED, os_may_make(why, below));
	assert_non_null(strstr(why->message, file));
	OK(os_remove(why, file));
}

TEST(names_are_taken_apart)
{
	static const struct {
		const char *path, *dir, *base;
	} cases[] = {{"/a/b", "/a", "b"}, {"a", ".", "a"}, {"/a", "/", "a"}, {"a/", "a", ""}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = keep(os_dir_name(cases[i].path));

		assert_string_equal(dir, cases[i].dir);
		assert_string_equal(os_base_name(cases[i].path), cases[i].base);
	}
}

TEST(the_nearest_folder_is_found)
{
	char *deep = keep(os_join(folder, "nearest/not/there")),
		 *there = keep(os_join(folder, "nearest")), *found;

	found = keep(os_nearest(deep));
	assert_string_equal(found, folder);
	OK(os_make_dirs(why, there, 0700));
	found = keep(os_nearest(deep));
	assert_string_equal(found, there);
	found = keep(os_nearest(there));
	assert_string_equal(found, there);
	found = keep(os_nearest("nobody-has-this/file"));
	assert_string_equal(found, ".");
}

TEST(simulated_pci_devices_are_parsed)
{
	struct os_pci_device devices[4];
	size_t count = 0;

	OK(os_pci_parse(why, "10de:2484@0000:01:00.0,10de:2786", devices, 4, &count));
	assert_int_equal(count, 2);
	assert_int_equal(devices[0].device, 0x2484);
	assert_string_equal(devices[0].bus, "0000:01:00.0");
	assert_string_equal(devices[1].bus, "");
	assert_int_equal(os_pci_parse(why, "10de:24840", devices, 4, &count), -1);
	GIVES(JW_ERR_USAGE, os_pci_parse(why, "garbage", devices, 4, &count));
}

RUN_TESTS(make_folder, remove_folder)
