/* What runs have compiled and got, over all runs. */
#include "check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "base/mem.h"
#include "files.h"
#include "folder.h"
#include "history/ledger.h"
#include "history/totals.h"
#include "os/file.h"

static void runs_add_up(void **state)
{
	const struct jw_totals none = {0};
	const struct jw_totals run = {.compiled = 3, .from_shared = 5, .saved_seconds = 1.5};
	const struct jw_totals other = {.from_store = 2, .from_registries = 9, .saved_seconds = 2};
	struct jw_totals totals;
	char *path = os_join(NULL, folder, "totals.json");

	(void)state;
	totals_add(NULL, &run);
	totals_recall(NULL, &totals);
	assert_true(!totals.compiled && !totals.since_s);
	/* A run in which nothing happened is none. */
	totals_add(folder, &none);
	assert_false(os_exists(path));
	totals_add(folder, &run);
	totals_add(folder, &other);
	totals_add(folder, &run);
	totals_recall(folder, &totals);
	assert_int_equal(totals.compiled, 6);
	assert_int_equal(totals.from_store, 2);
	assert_int_equal(totals.from_shared, 10);
	assert_int_equal(totals.from_registries, 9);
	assert_true(totals.saved_seconds > 4.99 && totals.saved_seconds < 5.01);
	assert_true(totals.since_s > 1700000000);
	mem_free(path);
}

static void what_makes_no_sense_counts_nothing(void **state)
{
	static const char wild[] =
		"{\"schema\":\"jitwarm.totals/1\",\"compiled\":1e300,\"from_store\":-1,\"from_shared\":"
		"1000000000000000,\"from_registries\":[],\"saved_seconds\":1e300,\"since\":7}";
	static const char another[] = "{\"schema\":\"jitwarm.totals/2\",\"compiled\":5}";
	static char large[6000];
	const struct jw_totals run = {.from_shared = SIZE_MAX, .saved_seconds = 1e300},
						   other = {.compiled = 1};
	struct jw_totals totals;

	(void)state;
	assert_int_equal(totals_parse(NULL, another, strlen(another), &totals), 0);
	assert_true(!totals.compiled);
	assert_int_equal(totals_parse(NULL, wild, strlen(wild), &totals), 0);
	assert_true(!totals.compiled && !totals.from_store && !totals.from_registries);
	assert_true(totals.from_shared == UINT64_C(1000000000000000) && totals.saved_seconds < 1.1e10);
	/* Nothing overflows. */
	files_put_text(folder, "totals.json", wild);
	totals_add(folder, &run);
	totals_recall(folder, &totals);
	assert_true(totals.from_shared == UINT64_C(1000000000000000) && totals.saved_seconds < 1.1e10);
	assert_int_equal(totals.since_s, 7);
	/* A file that is too large is none of ours, and is replaced. */
	memset(large, ' ', sizeof large - 1);
	memcpy(large, wild, sizeof wild - 1);
	files_put_text(folder, "totals.json", large);
	totals_recall(folder, &totals);
	assert_true(!totals.since_s);
	totals_add(folder, &other);
	totals_recall(folder, &totals);
	assert_true(totals.compiled == 1 && !totals.from_shared && totals.since_s > 7);
}

enum { CHANGE_MS = 200 };

/* Holds the lock, says so, and writes the file later. */
static int write_slowly(int ready)
{
	struct os_file *lock = NULL;

	if (ledger_lock(NULL, folder, &lock) || !lock || write(ready, "x", 1) != 1)
		return 1;
	uv_sleep(CHANGE_MS);
	files_put_text(folder, "totals.json", "{\"schema\":\"jitwarm.totals/1\",\"compiled\":5}");
	os_file_close(lock);
	return 0;
}

static void a_run_waits_for_another(void **state)
{
	const struct jw_totals run = {.compiled = 1};
	struct jw_totals totals;
	int ends[2], status;
	pid_t other;
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	other = fork();
	assert_true(other >= 0);
	if (!other)
		_exit(write_slowly(ends[1]));
	assert_int_equal(read(ends[0], &byte, 1), 1);
	totals_add(folder, &run);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	totals_recall(folder, &totals);
	assert_int_equal(totals.compiled, 6);
	close(ends[0]);
	close(ends[1]);
}

/* What cannot be read is not replaced by one run's numbers. */
static void an_unreadable_file_stays(void **state)
{
	const struct jw_totals run = {.compiled = 1};
	char *path = os_join(NULL, folder, "totals.json");

	(void)state;
	assert_int_equal(symlink("totals.json", path), 0);
	totals_add(folder, &run);
	assert_true(readlink(path, (char[64]){0}, 64) > 0);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(runs_add_up, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(what_makes_no_sense_counts_nothing, make_folder,
										remove_folder),
		cmocka_unit_test_setup_teardown(a_run_waits_for_another, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(an_unreadable_file_stays, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
