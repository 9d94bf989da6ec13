/* Processes that change one ledger at the same time lose nothing of each other. */
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "folder.h"

#include "pack/ledger.h"

enum { CHANGE_MS = 300 };

static int mark(struct ledger *ledger, const char *path, uint64_t key)
{
	const struct ledger_item one = {key, 218, LEDGER_REFUSED};

	OK(ledger_put(why, &ledger->marks, LEDGER_MAX_MARKS, &one));
	return ledger_write(why, ledger, path);
}

/* Holds the lock, reads the ledger, reports that, and changes it later. */
static int change_slowly(const char *path, int ready)
{
	struct os_file *lock = NULL;
	struct ledger ledger;
	int failed;

	if (ledger_lock(NULL, folder, &lock) || !lock)
		return 1;
	ledger_read(&ledger, path);
	if (write(ready, "x", 1) != 1)
		return 1;
	uv_sleep(CHANGE_MS);
	failed = mark(&ledger, path, 1);
	ledger_close(&ledger);
	os_file_close(lock);
	return failed != 0;
}

TEST(a_writer_waits_for_another)
{
	const struct ledger_new_mark ours = {.module = 2, .result = 218};
	const struct ledger_change what = {.marks = &ours, .mark_count = 1};
	char *cache = keep(os_join(folder, "cache")), *path = keep(ledger_file(NULL, folder, cache));
	struct ledger ledger;
	int ends[2], status;
	pid_t other;
	char byte;

	assert_int_equal(pipe(ends), 0);
	other = fork();
	if (!other)
		_exit(change_slowly(path, ends[1]));
	assert_int_equal(read(ends[0], &byte, 1), 1);
	OK(ledger_change_marks(why, folder, cache, &what));
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	ledger_open(&ledger, folder, cache);
	assert_int_equal(ledger.marks.count, 2);
	ledger_close(&ledger);
	close(ends[0]);
	close(ends[1]);
}

/* Holds the lock until its end of the pipe is closed. */
static int hold_lock(int ready, int end)
{
	struct os_file *lock = NULL;
	char byte;

	return ledger_lock(NULL, folder, &lock) || !lock || write(ready, "x", 1) != 1 ||
		   read(end, &byte, 1) != 0;
}

/* Notes what a plan uses in a process of its own, which ends with 0 if it wrote nothing. */
static int note_plan(const char *path, char *cache)
{
	static char library[] = "/no/such";
	struct plan_file file = {.path = library};
	struct plan_target target = {.device.sm = 86};
	struct plan_module module = {.state = PLAN_WARM, .key = 1, .used = true};
	struct plan plan = {.cache_dir = cache,
						.files = &file,
						.file_count = 1,
						.targets = &target,
						.target_count = 1,
						.modules = &module,
						.module_count = 1};
	struct ledger ledger;

	ledger_open(&ledger, folder, cache);
	ledger_begin(&ledger, &plan);
	ledger_note_used(&ledger, folder);
	ledger_close(&ledger);
	return os_exists(path);
}

/* A process that does not get the lock writes nothing, since the holder's marks would be lost. */
TEST(nobody_writes_without_the_lock)
{
	const struct ledger_new_mark ours = {.module = 2, .result = 218};
	const struct ledger_change what = {.marks = &ours, .mark_count = 1};
	char *cache = keep(os_join(folder, "third")), *path = keep(ledger_file(NULL, folder, cache));
	int ready[2], end[2], status;
	pid_t holder, another;
	char byte;

	assert_int_equal(pipe(ready) | pipe(end), 0);
	holder = fork();
	if (!holder) {
		close(end[1]);
		_exit(hold_lock(ready[1], end[0]));
	}
	close(end[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	another = fork();
	if (!another)
		_exit(note_plan(path, cache));
	GIVES(JW_ERR_BUSY, ledger_change_marks(why, folder, cache, &what));
	assert_int_equal(waitpid(another, &status, 0), another);
	assert_int_equal(status, 0);
	assert_false(os_exists(path));
	close(end[1]);
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_int_equal(status, 0);
	/* the same plan is noted once the lock is free */
	assert_int_equal(note_plan(path, cache), 1);
	close(ready[0]);
	close(ready[1]);
}

RUN_TESTS(make_folder, remove_folder)
