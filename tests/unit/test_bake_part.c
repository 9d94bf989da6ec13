/* Processes that write packages into one folder at the same time: none takes another's unfinished
 * package for a leftover. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bake/package_part.h"
#include "base/mem.h"
#include "folder.h"

enum { WRITERS = 4, ROUNDS = 150 };

/* Leaves the round at which it failed, or 0. */
static int write_packages(const char *out, unsigned writer, bool finish)
{
	for (int round = 1; round <= ROUNDS; round++) {
		char *output = mem_printf(NULL, "%s/%u-%d.whl", out, writer, round);
		struct package_part part = {0};
		struct package_file member = {0};
		struct jw_error err;
		int result = package_part_open(&err, out, out, &part);

		if (!result)
			result = package_file_open(&err, &part, "member", &member) ||
					 package_file_put(&err, &member, (const uint8_t *)output, strlen(output)) ||
					 os_file_write(&err, part.file, 0, output, strlen(output));
		if (!result && access(member.path, F_OK)) {
			(void)error_set(&err, JW_ERR_IO, "the member is gone");
			result = -1;
		}
		package_file_drop(&member);
		if (!result && finish && round % 3)
			result = package_part_finish(&err, &part, output, 0644);
		package_part_drop(&part);
		mem_free(output);
		if (result) {
			print_error("writer %u, round %d: %s\n", writer, round, err.message);
			return round;
		}
	}
	return 0;
}

static void write_at_once(const char *name, bool finish)
{
	pid_t writers[WRITERS];
	int status[WRITERS];
	char *out = os_join(NULL, folder, name);

	assert_non_null(out);
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		if (!writers[i])
			_exit(write_packages(out, i, finish) ? 1 : 0);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(waitpid(writers[i], &status[i], 0), writers[i]);
	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(status[i], 0);
	mem_free(out);
}

static void writers_leave_each_other_alone(void **state)
{
	(void)state;
	write_at_once("out", true);
}

/* Each removes the folder that it has made, where nothing else is in it. */
static void a_folder_goes_and_comes(void **state)
{
	(void)state;
	write_at_once("empty", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(writers_leave_each_other_alone),
									   cmocka_unit_test(a_folder_goes_and_comes)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
