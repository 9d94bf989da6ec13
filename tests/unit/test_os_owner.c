/* A file of another account that the superuser replaces stays that account's. */
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"

static void a_rewritten_file_keeps_its_owner(void **state)
{
	enum { OTHER = 12345 };
	char *path = os_join(NULL, folder, "file");
	struct os_stat stat;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(os_write_atomic(NULL, path, "one", 3), 0);
	assert_int_equal(chown(path, OTHER, OTHER + 1), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(os_rewrite(NULL, path, "two", 3), 0);
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_int_equal(stat.owner, OTHER);
	assert_int_equal(stat.group, OTHER + 1);
	assert_int_equal(stat.mode, 0640);
	/* One that is written anew is this account's. */
	assert_int_equal(os_write_atomic(NULL, path, "new", 3), 0);
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_int_equal(stat.owner, 0);
	mem_free(path);
}

/* Also where its parents were walked just before. */
static void a_directory_is_entered_with_its_owners_rights(void **state)
{
	char *path = os_join(NULL, folder, "theirs"), *below = os_join(NULL, path, "below");
	struct os_stat stat;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(os_make_dirs(NULL, below, 0700), 0);
	assert_int_equal(os_stat(NULL, below, &stat), 0);
	assert_int_equal(os_may_write(NULL, path), 0);
	assert_int_equal(os_may_write(NULL, below), 0);
	assert_int_equal(chown(below, 12345, 12345), 0);
	assert_int_equal(chmod(below, 0500), 0);
	assert_int_equal(os_stat(NULL, below, &stat), 0);
	assert_int_equal(os_may_write(NULL, below), -1);
	mem_free(below);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rewritten_file_keeps_its_owner),
		cmocka_unit_test(a_directory_is_entered_with_its_owners_rights),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
