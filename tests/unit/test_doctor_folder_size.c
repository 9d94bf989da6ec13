#include "folder.h"

#include "doctor/folder_size.h"

static void make_file(const char *name)
{
	char *path = os_join(NULL, folder, name);

	assert_int_equal(os_make_parent(NULL, path, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, path, "12345", 5), 0);
	mem_free(path);
}

static void no_more_names_are_looked_at_than_asked(void **state)
{
	struct folder_size size;

	(void)state;
	make_file("a");
	make_file("b/c/d");
	make_file("b/e");
	assert_int_equal(folder_size(NULL, folder, 5, &size), 0);
	assert_int_equal(size.files, 3);
	assert_int_equal(size.bytes, 15);
	assert_false(size.cut);
	assert_true(size.newest_ns > 0);
	assert_int_equal(folder_size(NULL, folder, 4, &size), 0);
	assert_true(size.cut);
	assert_true(size.files < 3);
	assert_int_equal(folder_size(NULL, folder, 0, &size), 0);
	assert_true(size.cut);
	assert_int_equal(size.files, 0);
}

static void a_folder_that_is_gone_is_unread(void **state)
{
	struct folder_size size = {0};

	(void)state;
	assert_int_equal(folder_size(NULL, "/nonexistent/jitwarm", 5, &size), 0);
	assert_int_equal(size.unread, 1);
	assert_int_equal(size.files, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_more_names_are_looked_at_than_asked, make_folder,
										remove_folder),
		cmocka_unit_test(a_folder_that_is_gone_is_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
