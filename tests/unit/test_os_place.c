/* Names of a Korean user's folders, paths beyond Windows' old limit, locks, environment: what both
 * halves of the os layer must do alike, and where they may differ. */
#include "check.h"

#include <string.h>

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "base/mem.h"
#include "base/text.h"
#include "os/env.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/library.h"
#include "os/platform.h"

static char *folder;

static int make_folder(void **state)
{
	(void)state;
	return os_make_temp_dir(NULL, "jitwarm-시험", &folder);
}

static int remove_folder(void **state)
{
	(void)state;
	return os_remove_tree(NULL, folder) || os_exists(folder);
}

static char *inside(const char *name)
{
	char *path = os_join(folder, name);

	assert_non_null(path);
	return path;
}

static void write_text(const char *path, const char *text)
{
	struct jw_error err = {0};

	if (os_write_atomic(&err, path, text, strlen(text)))
		fail_msg("%s", err.message);
}

TEST(a_hangul_name_comes_back_as_it_was_given)
{
	char *path = inside("사용자/캐시"), *file = os_join(path, "가나다.bin"), *real = NULL;
	struct os_names names;

	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	write_text(file, "x");
	assert_int_equal(os_list(NULL, path, &names), 0);
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], "가나다.bin");
	assert_int_equal(os_real_path(NULL, file, &real), 0);
	assert_true(text_ends(real, "가나다.bin"));
	assert_true(os_is_absolute(real));
	os_names_free(&names);
	mem_free(real);
	mem_free(file);
	mem_free(path);
}

#ifndef _WIN32
static void expect_real_path(const char *path, const char *end)
{
	char *real = NULL;

	assert_int_equal(os_real_path(NULL, path, &real), 0);
	assert_true(text_ends(real, end));
	mem_free(real);
}

/* The superuser's paths are walked part by part, those of other accounts are the kernel's. */
TEST(a_link_is_resolved_for_every_account)
{
	char *file = inside("linked.so.1.2"), *link_ = inside("linked.so");
	const uid_t own = geteuid();

	write_text(file, "x");
	assert_int_equal(symlink("linked.so.1.2", link_), 0);
	expect_real_path(link_, "linked.so.1.2");
	if (!own) {
		assert_int_equal(chmod(folder, 0755), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	expect_real_path(link_, "linked.so.1.2");
	assert_int_equal(seteuid(own), 0);
	mem_free(link_);
	mem_free(file);
}
#endif

TEST(a_path_of_more_than_260_characters_works)
{
	static const char level[] = "a-name-of-forty-characters-as-frameworks";
	char *path = mem_string(folder), *file;
	struct os_stat stat;
	struct os_map map;

	for (int i = 0; i < 9; i++) {
		char *longer = os_join(path, level);

		mem_free(path);
		path = longer;
	}
	file = os_join(path, "file");
	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	write_text(file, "far down");
	assert_int_equal(os_stat(NULL, file, &stat), 0);
	assert_int_equal(stat.size_bytes, 8);
	assert_int_equal(os_map_open(NULL, file, &map), 0);
	assert_memory_equal(map.data, "far down", 8);
	os_map_close(&map);
	mem_free(file);
	mem_free(path);
}

/* Windows before 10, and Wine, do not replace an open file: then it must stay whole. */
TEST(a_reader_sees_the_old_file_or_the_new_one)
{
	char *path = inside("replaced");
	struct os_file *reader = NULL;
	struct buf content = {0};
	char text[4] = {0};
	size_t got = 0;
	int failed;

	write_text(path, "old");
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_READ, &reader), 0);
	failed = os_write_atomic(NULL, path, "newer", 5);
	assert_true(!failed || os_is_windows);
	assert_int_equal(os_file_read(NULL, reader, 0, text, 3, &got), 0);
	assert_string_equal(text, "old");
	os_file_close(reader);
	assert_int_equal(os_read_file(NULL, path, 100, &content), 0);
	assert_string_equal(buf_text(&content), failed ? "old" : "newer");
	write_text(path, "newest");
	buf_free(&content);
	mem_free(path);
}

TEST(a_file_is_written_in_place)
{
	char *path = inside("in-place");
	struct os_file *file = NULL;
	uint64_t size = 0;
	char text[8] = {0};
	size_t got = 0;

	assert_int_equal(os_file_open(NULL, path, OS_OPEN_UPDATE, &file), -1);
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_CREATE, &file), 0);
	assert_int_equal(os_file_write(NULL, file, 0, "abcdef", 6), 0);
	assert_int_equal(os_file_write(NULL, file, 2, "XY", 2), 0);
	assert_int_equal(os_file_truncate(NULL, file, 5), 0);
	assert_int_equal(os_file_size(NULL, file, &size), 0);
	assert_int_equal(size, 5);
	assert_int_equal(os_file_read(NULL, file, 1, text, sizeof text, &got), 0);
	assert_int_equal(got, 4);
	assert_memory_equal(text, "bXYe", 4);
	assert_int_equal(os_file_read(NULL, file, 100, text, 1, &got), 0);
	assert_int_equal(got, 0);
	os_file_close(file);
	mem_free(path);
}

/* fcntl's locks do not exclude the process that holds them; the driver's cache tests that they keep
 * out other processes. */
TEST(an_exclusive_lock_keeps_another_handle_out)
{
	char *path = inside("locked");
	struct os_file *first = NULL, *second = NULL;
	bool held = false;

	write_text(path, "0123456789abcdef");
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_UPDATE, &first), 0);
	assert_int_equal(os_file_open(NULL, path, OS_OPEN_UPDATE, &second), 0);
	assert_int_equal(os_file_lock(NULL, first, true, &held), 0);
	assert_true(held);
	assert_int_equal(os_file_lock(NULL, second, true, &held), 0);
	assert_int_equal(held, !os_is_windows);
	assert_int_equal(os_file_unlock(NULL, first), 0);
	assert_int_equal(os_file_lock(NULL, second, false, &held), 0);
	assert_true(held);
	os_file_close(second);
	os_file_close(first);
	mem_free(path);
}

TEST(roots_are_known)
{
	static const struct {
		const char *path;
		size_t root;
		const char *dir;
		bool windows;
	} cases[] = {
		{.path = "/a/b", .root = 1, .dir = "/a"},
		{.path = "/a", .root = 1, .dir = "/"},
		{.path = "a/b", .dir = "a"},
		{.path = "C:\\a", .root = 3, .dir = "C:\\", .windows = true},
		{.path = "C:/a/b", .root = 3, .dir = "C:/a", .windows = true},
		{.path = "C:a", .root = 2, .dir = "C:", .windows = true},
		{.path = "\\\\server\\share\\a", .root = 15, .dir = "\\\\server\\share\\", .windows = true},
		{.path = "\\a", .root = 1, .dir = "\\", .windows = true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir;

		if (cases[i].windows && !os_is_windows)
			continue;
		dir = os_dir_name(cases[i].path);
		assert_int_equal(os_root_length(cases[i].path), cases[i].root);
		assert_string_equal(dir, cases[i].dir);
		mem_free(dir);
	}
}

TEST(the_environment_keeps_set_variables)
{
	static const char *const values[] = {"plain", "값 with blanks", ""};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char *value;

		assert_int_equal(os_env_set(NULL, "JITWARM_TEST_VALUE", values[i]), 0);
		value = os_env("JITWARM_TEST_VALUE");
		assert_non_null(value);
		assert_string_equal(value, values[i]);
		mem_free(value);
	}
	assert_int_equal(os_env_set(NULL, "JITWARM_TEST_VALUE", NULL), 0);
	assert_null(os_env("JITWARM_TEST_VALUE"));
}

TEST(the_state_folder_follows_its_variable)
{
	char *path = NULL;

	assert_int_equal(os_env_set(NULL, "JITWARM_STATE", folder), 0);
	assert_int_equal(os_state_dir(NULL, &path), 0);
	assert_string_equal(path, folder);
	mem_free(path);
	assert_int_equal(os_env_set(NULL, "JITWARM_STATE", NULL), 0);
	assert_int_equal(os_state_dir(NULL, &path), 0);
	assert_string_equal(os_base_name(path), "jitwarm");
	assert_true(os_is_absolute(path));
	mem_free(path);
}

TEST(the_machine_has_cores_memory_and_room)
{
	uint64_t total = 0, available = 0;
	struct os_space space = {0};
	char *absent;

	assert_true(os_cores() >= 1);
	assert_true(os_physical_cores() >= 1 && os_physical_cores() <= os_cores());
	assert_true(os_memory(&total, &available));
	assert_true(available > 0 && available <= total);
	assert_true(os_peak_resident_bytes() > 0);
	assert_int_equal(os_space(NULL, folder, &space), 0);
	assert_true(space.free_bytes > 0);
	assert_true(space.free_files > 0);
	absent = os_join(folder, "absent/place");
	assert_int_equal(os_space(NULL, absent, &space), -1);
	mem_free(absent);
}

TEST(we_know_our_own_program)
{
	char *path = NULL;

	assert_int_equal(os_self_path(NULL, &path), 0);
	assert_true(text_starts(os_base_name(path), "unit"));
	assert_true(os_exists(path));
	mem_free(path);
}

TEST(the_systems_certificates_are_found)
{
	static const char debian[] = "/etc/ssl/certs/ca-certificates.crt";
	char *path = os_certificates();

	if (os_is_windows)
		assert_null(path);
	else if (os_exists(debian))
		assert_string_equal(path, debian);
	else
		assert_true(!path || os_exists(path));
	mem_free(path);
}

TEST(a_library_that_is_not_there_is_named)
{
	struct os_library *library = NULL;
	struct jw_error err = {0};

	assert_int_equal(os_library_open(&err, "jitwarm-no-such-library", &library), -1);
	assert_int_equal(err.code, JW_ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "jitwarm-no-such-library"));
}

TEST(removing_a_tree_follows_no_limit_of_names)
{
	char *top = inside("tree");

	for (int i = 0; i < 40; i++) {
		char *deep = mem_printf("%s/%d/가", top, i), *file = os_join(deep, "f");

		assert_int_equal(os_make_dirs(NULL, deep, 0700), 0);
		write_text(file, "");
		mem_free(file);
		mem_free(deep);
	}
	assert_int_equal(os_remove_tree(NULL, top), 0);
	assert_false(os_exists(top));
	assert_int_equal(os_remove_tree(NULL, top), 0);
	mem_free(top);
}

RUN_TESTS(make_folder, remove_folder)
