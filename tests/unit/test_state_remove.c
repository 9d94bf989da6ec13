#include "folder.h"

#include <string.h>

#include <jitwarm/error.h>
#include <jitwarm/system.h>

#include "files.h"
#include "os/env.h"

static bool is_there(const char *name)
{
	char *path = os_join(NULL, folder, name);
	bool there = os_exists(path);

	mem_free(path);
	return there;
}

static void remove_it(bool with_keys, bool kept_expected)
{
	char *path = NULL;
	bool kept = !kept_expected;

	assert_int_equal(jw_state_remove(NULL, with_keys, &path, &kept), 0);
	assert_non_null(path);
	assert_int_equal(kept, kept_expected);
	jw_text_free(path);
}

static void other_files_and_keys_stay(void **state)
{
	char *path = os_join(NULL, folder, "state");

	(void)state;
	assert_int_equal(os_env_set(NULL, "JITWARM_STATE", path), 0);
	mem_free(path);
	files_put_text(folder, "state/speed.json", "{}");
	files_put_text(folder, "state/totals.json", "{}");
	files_put_text(folder, "state/store/a.jwpack", "x");
	files_put_text(folder, "state/ptxas/12.4/ptxas.exe", "x"); /* Windows: fetched compilers */
	files_put_text(folder, "state/keys/default.key", "x");
	files_put_text(folder, "state/letter.txt", "x");
	remove_it(false, true);
	assert_false(is_there("state/speed.json"));
	assert_false(is_there("state/totals.json"));
	assert_false(is_there("state/store"));
	assert_false(is_there("state/ptxas"));
	assert_true(is_there("state/keys/default.key"));
	assert_true(is_there("state/letter.txt"));
	remove_it(true, false);
	assert_false(is_there("state/keys"));
	assert_true(is_there("state/letter.txt"));
	path = os_join(NULL, folder, "state/letter.txt");
	assert_int_equal(os_remove(NULL, path), 0);
	mem_free(path);
	remove_it(false, false);
	assert_false(is_there("state"));
}

static void a_missing_folder_is_not_a_failure(void **state)
{
	char *path = os_join(NULL, folder, "none"), *removed = folder;
	bool kept = true;

	(void)state;
	assert_int_equal(os_env_set(NULL, "JITWARM_STATE", path), 0);
	assert_int_equal(jw_state_remove(NULL, true, &removed, &kept), 0);
	assert_null(removed);
	assert_false(kept);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_and_keys_stay),
		cmocka_unit_test(a_missing_folder_is_not_a_failure),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
