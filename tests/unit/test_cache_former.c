/* Which driver made an entry: the installed one, a former one, or nobody knows. */
#include "check.h"

#include <stdio.h>

#include "cache/former.h"

/* However many drivers are known: also where the list has room for no other. */
static void stamps_and_releases_are_told_apart(void **state)
{
	static const char living[] = "Aug 20 202514:13:09";
	static const uint32_t release[3] = {550, 163, 1}, unknown[3];
	struct former_drivers drivers = {0};
	size_t first;

	(void)state;
	assert_int_equal(former_of(&drivers, "550.163.01"), FORMER_UNKNOWN);
	assert_int_equal(former_read(NULL, NULL, living, release, &drivers), 0);
	assert_int_equal(former_add(NULL, &drivers, "no stamp"), 0);
	first = drivers.count;
	for (unsigned day = 1; day <= 28; day++) {
		char stamp[CACHE_STAMP_SIZE + 1];

		(void)snprintf(stamp, sizeof stamp, "Feb %2u 202301:02:03", day);
		assert_int_equal(former_of(&drivers, stamp), FORMER_UNKNOWN);
		assert_int_equal(former_add(NULL, &drivers, stamp), 0);
		assert_int_equal(former_add(NULL, &drivers, stamp), 0);
		assert_int_equal(drivers.count, first + day);
		assert_int_equal(former_of(&drivers, stamp), FORMER_FORMER);
		assert_int_equal(former_of(&drivers, living), FORMER_LIVING);
		assert_int_equal(former_of(&drivers, "550.163.01"), FORMER_LIVING);
		assert_int_equal(former_of(&drivers, "418.39"), FORMER_FORMER);
		assert_int_equal(former_of(&drivers, ""), FORMER_UNKNOWN);
		assert_int_equal(former_of(&drivers, "x"), FORMER_UNKNOWN);
	}
	former_free(&drivers);
	/* Of an installed driver whose release is unknown it may be the release. */
	assert_int_equal(former_read(NULL, NULL, "Feb  3 202301:02:03", unknown, &drivers), 0);
	assert_int_equal(former_of(&drivers, "418.39"), FORMER_UNKNOWN);
	former_free(&drivers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_and_releases_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
