/* Folder names of a Korean user, paths beyond Windows' old limit, locks, the environment: what both
 * halves of the os layer must do alike, and where they may differ. */
#include "check.h"

#include <string.h>

#ifndef _WIN32
#include <sys/stat.h>
#include <sys/statvfs.h>
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
	return os_make_temp_dir(why, "jitwarm-시험", &folder);
}

static int remove_folder(void **state)
{
	(void)state;
	return os_remove_tree(why, folder) || os_exists(folder);
}

static char *inside(const char *name)
{
	char *path = os_join(folder, name);

	assert_non_null(path);
	return path;
}

static void write_text(const char *path, const char *text)
{
	OK(os_write_atomic(why, path, text, strlen(text)));
}

TEST(a_hangul_name_comes_back_as_it_was_given)
{
	char *path = keep(inside("사용자/캐시")), *file = keep(os_join(path, "가나다.bin")),
		 *real = NULL;
	struct os_names names;

	OK(os_make_dirs(why, path, 0700));
	write_text(file, "x");
	OK(os_list(why, path, &names));
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], "가나다.bin");
	OK(os_real_path(why, file, &real));
	assert_true(text_ends(real, "가나다.bin"));
	assert_true(os_is_absolute(real));
	os_names_free(&names);
	mem_free(real);
}

#ifndef _WIN32
static void expect_real_path(const char *path, const char *end)
{
	char *real = NULL;

	OK(os_real_path(why, path, &real));
	assert_true(text_ends(real, end));
	mem_free(real);
}

/* Root's paths are walked part by part; those of other accounts are left to the kernel. */
TEST(a_link_is_resolved_for_every_account)
{
	char *file = keep(inside("linked.so.1.2")), *link_ = keep(inside("linked.so"));
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
	file = keep(os_join(path, "file"));
	OK(os_make_dirs(why, path, 0700));
	write_text(file, "far down");
	OK(os_stat(why, file, &stat));
	assert_int_equal(stat.size_bytes, 8);
	OK(os_map_open(why, file, &map));
	assert_memory_equal(map.data, "far down", 8);
	os_map_close(&map);
	mem_free(path);
}

/* Windows before 10, and Wine, do not replace an open file; then it must stay whole. */
TEST(a_reader_sees_the_old_file_or_the_new_one)
{
	char *path = keep(inside("replaced"));
	struct os_file *reader = NULL;
	struct buf content = {0};
	char text[4] = {0};
	size_t got = 0;
	int failed;

	write_text(path, "old");
	OK(os_file_open(why, path, OS_OPEN_READ, &reader));
	failed = os_write_atomic(NULL, path, "newer", 5);
	assert_true(!failed || os_is_windows);
	OK(os_file_read(why, reader, 0, text, 3, &got));
	assert_string_equal(text, "old");
	os_file_close(reader);
	OK(os_read_file(why, path, 100, &content));
	assert_string_equal(buf_text(&content), failed ? "old" : "newer");
	write_text(path, "newest");
	buf_free(&content);
}

TEST(a_file_is_written_in_place)
{
	char *path = keep(inside("in-place"));
	struct os_file *file = NULL;
	uint64_t size = 0;
	char text[8] = {0};
	size_t got = 0;

	assert_int_equal(os_file_open(NULL, path, OS_OPEN_UPDATE, &file), -1);
	OK(os_file_open(why, path, OS_OPEN_CREATE, &file));
	OK(os_file_write(why, file, 0, "abcdef", 6));
	OK(os_file_write(why, file, 2, "XY", 2));
	OK(os_file_truncate(why, file, 5));
	OK(os_file_size(why, file, &size));
	assert_int_equal(size, 5);
	OK(os_file_read(why, file, 1, text, sizeof text, &got));
	assert_int_equal(got, 4);
	assert_memory_equal(text, "bXYe", 4);
	OK(os_file_read(why, file, 100, text, 1, &got));
	assert_int_equal(got, 0);
	os_file_close(file);
}

/* fcntl's locks do not exclude the process that holds them; the driver's cache tests that they keep
 * out other processes. */
TEST(an_exclusive_lock_keeps_another_handle_out)
{
	char *path = keep(inside("locked"));
	struct os_file *first = NULL, *second = NULL;
	bool held = false;

	write_text(path, "0123456789abcdef");
	OK(os_file_open(why, path, OS_OPEN_UPDATE, &first));
	OK(os_file_open(why, path, OS_OPEN_UPDATE, &second));
	OK(os_file_lock(why, first, true, &held));
	assert_true(held);
	OK(os_file_lock(why, second, true, &held));
	assert_int_equal(held, !os_is_windows);
	OK(os_file_unlock(why, first));
	OK(os_file_lock(why, second, false, &held));
	assert_true(held);
	os_file_close(second);
	os_file_close(first);
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
		dir = keep(os_dir_name(cases[i].path));
		assert_int_equal(os_root_length(cases[i].path), cases[i].root);
		assert_string_equal(dir, cases[i].dir);
	}
}

TEST(the_environment_keeps_set_variables)
{
	static const char *const values[] = {"plain", "값 with blanks", ""};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char *value;

		OK(os_env_set(why, "JITWARM_TEST_VALUE", values[i]));
		value = keep(os_env("JITWARM_TEST_VALUE"));
		assert_non_null(value);
		assert_string_equal(value, values[i]);
	}
	OK(os_env_set(why, "JITWARM_TEST_VALUE", NULL));
	assert_null(os_env("JITWARM_TEST_VALUE"));
}

TEST(the_state_folder_follows_its_variable)
{
	char *path = NULL;

	OK(os_env_set(why, "JITWARM_STATE", folder));
	OK(os_state_dir(why, &path));
	assert_string_equal(path, folder);
	mem_free(path);
	OK(os_env_set(why, "JITWARM_STATE", NULL));
	OK(os_state_dir(why, &path));
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
	OK(os_space(why, folder, &space));
	assert_true(space.free_bytes > 0);
#ifndef _WIN32
	/* Others write here meanwhile: 1,024 files at most. */
	struct statvfs kernel;

	assert_int_equal(statvfs(folder, &kernel), 0);
	if (kernel.f_files)
		assert_true(space.free_files + 1024 > kernel.f_ffree &&
					space.free_files < kernel.f_ffree + 1024);
#endif
	absent = keep(os_join(folder, "absent/place"));
	assert_int_equal(os_space(NULL, absent, &space), -1);
}

TEST(we_know_our_own_program)
{
	char *path = NULL;

	OK(os_self_path(why, &path));
	assert_true(text_starts(os_base_name(path), "unit"));
	assert_true(os_exists(path));
	mem_free(path);
}

TEST(a_library_that_is_not_there_is_named)
{
	struct os_library *library = NULL;

	GIVES(JW_ERR_NOT_FOUND, os_library_open(why, "jitwarm-no-such-library", &library));
	assert_non_null(strstr(why->message, "jitwarm-no-such-library"));
}

TEST(removing_a_tree_follows_no_limit_of_names)
{
	char *top = keep(inside("tree"));

	for (int i = 0; i < 40; i++) {
		char *deep = keep(mem_printf("%s/%d/가", top, i)), *file = keep(os_join(deep, "f"));

		OK(os_make_dirs(why, deep, 0700));
		write_text(file, "");
	}
	OK(os_remove_tree(why, top));
	assert_false(os_exists(top));
	OK(os_remove_tree(why, top));
}

RUN_TESTS(make_folder, remove_folder)
