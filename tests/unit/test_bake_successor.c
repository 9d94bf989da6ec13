#include "check.h"

#include "bake/successor.h"

static void numbers_and_hashes_may_differ(void **state)
{
	(void)state;
	assert_true(successor_is_alike("libx.so.1.2", "libx.so.11.30"));
	assert_true(successor_is_alike("libx-0123abcd.so.1", "libx-89ef4567.so.2"));
	assert_true(successor_is_alike("x-0123456789abcdef0123456789abcdef.dll",
								   "x-fedcba9876543210fedcba9876543210.dll"));
	assert_true(successor_is_alike("_C.cpython-311-x86_64-linux-gnu.so",
								   "_C.cpython-312-x86_64-linux-gnu.so"));
	assert_true(successor_is_alike("libx.so", "libx.so"));
	assert_true(successor_is_alike("", ""));
}

static void other_names_are_others(void **state)
{
	(void)state;
	assert_false(successor_is_alike("libx.so", "liby.so"));
	assert_false(successor_is_alike("libx.so", "libx.so.1"));
	assert_false(successor_is_alike("libx1.so", "libx.so"));
	assert_false(successor_is_alike("libx-cafe.so", "libx-beef.so"));
	assert_false(successor_is_alike("libx-0123abcd.so", "libx.so"));
	assert_false(successor_is_alike("libx-deadbeef", "libx-cafecafe"));
	assert_false(successor_is_alike("libx", "libxy"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_and_hashes_may_differ),
									   cmocka_unit_test(other_names_are_others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
