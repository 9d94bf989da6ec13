/* A member of state.json is replaced without touching the others, and a damaged file counts as
 * empty. */
#include "check.h"

#include <stdio.h>

#include "driver/state_file.h"
#include "files.h"
#include "folder.h"
#include "os/file.h"

static cJSON *object_with(int number)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddNumberToObject(object, "number", number);
	return object;
}

static int number_of(const char *name)
{
	cJSON *member = state_read(folder, name);
	const int number = member ? (int)json_number(member, "number", -2) : -1;

	cJSON_Delete(member);
	return number;
}

static void put(const char *name, int number)
{
	OK(state_write(why, folder, name, object_with(number)));
}

TEST_WITH(a_member_replaces_itself_alone, make_folder, remove_folder)
{
	put(STATE_SPEED, 1);
	put(STATE_DEVICES, 2);
	put(STATE_SPEED, 3);
	assert_int_equal(number_of(STATE_SPEED), 3);
	assert_int_equal(number_of(STATE_DEVICES), 2);
	OK(state_write(why, folder, STATE_SPEED, NULL));
	assert_int_equal(number_of(STATE_SPEED), -1);
	assert_int_equal(number_of(STATE_DEVICES), 2);
}

TEST_WITH(nothing_is_made_to_remove_something, make_folder, remove_folder)
{
	char *absent = keep(os_join(folder, "absent"));

	OK(state_write(why, absent, STATE_DEVICES, NULL));
	assert_false(os_exists(absent));
	OK(state_write(why, NULL, STATE_DEVICES, object_with(1)));
	assert_null(state_read(NULL, STATE_DEVICES));
}

TEST_WITH(a_file_of_any_bytes_counts_as_empty, make_folder, remove_folder)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"7",
		"{\"devices\":{\"number\":1}}",
		"{\"schema\":\"jitwarm.state/2\",\"devices\":{\"number\":1}}",
		"{\"schema\":\"jitwarm.state/1\",\"devices\":{\"number\":1},\"devices\":{\"number\":2}}",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		files_put_text(folder, "state.json", texts[i]);
		assert_int_equal(number_of(STATE_DEVICES), -1);
		put(STATE_SPEED, 5);
		assert_int_equal(number_of(STATE_SPEED), 5);
		assert_int_equal(number_of(STATE_DEVICES), -1);
	}
}

/* A run that was recorded again is not among the oldest. */
TEST_WITH(the_newest_runs_are_kept, make_folder, remove_folder)
{
	char name[32];

	put(STATE_SPEED, 7);
	for (int i = 0; i < 65; i++) {
		(void)snprintf(name, sizeof name, STATE_LAST_RUN "%d", i);
		put(name, i);
		put(STATE_LAST_RUN "0", 0);
	}
	assert_int_equal(number_of(STATE_LAST_RUN "0"), 0);
	assert_int_equal(number_of(STATE_LAST_RUN "1"), -1);
	assert_int_equal(number_of(STATE_LAST_RUN "2"), 2);
	assert_int_equal(number_of(STATE_LAST_RUN "64"), 64);
	assert_int_equal(number_of(STATE_SPEED), 7);
}

RUN_TESTS(NULL, NULL)
