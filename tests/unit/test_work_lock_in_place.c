/* Locks on files that other processes remove: a lock counts while its file is in place. */
#include "gates_posix.h"

#include "folder.h"
#include "work/cache_turn_lock.h"

static unsigned passed, to_take;

static void take_first(const char *path, void (*take)(const char *path))
{
	if (strstr(path, ".jitwarm-lock") && passed < to_take) {
		passed++;
		take(path);
	}
}

static void remove_it(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void remove_first(const char *path)
{
	take_first(path, remove_it);
}

static void replace_first(const char *path)
{
	take_first(path, gate_replace);
}

static void expect_in_place(struct os_file *file, const char *path)
{
	struct os_stat own, named;

	assert_non_null(file);
	OK(os_file_stat(why, file, &own));
	OK(os_stat(why, path, &named));
	assert_true(own.inode == named.inode);
}

static void expect_nothing(const char *cache)
{
	struct os_names names;

	OK(os_list(why, cache, &names));
	assert_int_equal(names.count, 0);
	os_names_free(&names);
}

/* If there are no locks, nobody waits, and nobody has the turn. */
TEST(without_locks_a_run_goes_on)
{
	static const struct cache_turn_wait wait;
	char *cache = keep(os_join(folder, "lockless")), *lock = keep(os_join(cache, ".jitwarm-lock"));

	for (int i = 0; i < 2; i++) {
		struct cache_turn turn = {0};

		gate_locks_fail = i > 0;
		OK(i ? os_remove_tree(why, lock) : os_make_dirs(why, lock, 0700));
		OK(cache_turn_take(why, cache, &wait, &turn));
		assert_null(turn.lock);
		assert_false(turn.waited);
		cache_turn_end(&turn);
	}
	gate_locks_fail = false;
}

/* The last holder removes the lock's file between its opening and its locking. */
TEST(a_turn_is_that_of_the_file_in_place)
{
	static void (*const gates[])(const char *path) = {remove_first, replace_first};
	char *cache = keep(os_join(folder, "cache"));

	for (size_t i = 0; i < 2; i++) {
		static const struct cache_turn_wait wait;
		struct cache_turn turn = {0};

		passed = 0;
		to_take = 2;
		gate_before_lock = gates[i];
		OK(cache_turn_take(why, cache, &wait, &turn));
		gate_before_lock = NULL;
		assert_int_equal(passed, 2);
		expect_in_place(turn.lock, turn.lock_path);
		cache_turn_end(&turn);
		expect_nothing(cache);
	}
}

static unsigned removals;

static void expect_locked(const char *path)
{
	char *folder_path = keep(os_dir_name(path)),
		 *lock = keep(os_join(folder_path, ".jitwarm-lock"));

	assert_false(gate_can_lock(lock));
	removals++;
}

/* If the holder removed its files later, it would remove those of the next holder. */
TEST(its_files_go_while_it_is_held)
{
	static const struct cache_turn_wait wait;
	char *cache = keep(os_join(folder, "ended"));
	struct cache_turn turn = {0};

	OK(cache_turn_take(why, cache, &wait, &turn));
	gate_before_removal = expect_locked;
	cache_turn_end(&turn);
	gate_before_removal = NULL;
	assert_int_equal(removals, 2);
	expect_nothing(cache);
}

/* Starts another process that has the turn until *ret_end is closed. */
static pid_t hold_turn(const char *cache, int *ret_end)
{
	int ready[2], end[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready) | pipe(end), 0);
	child = fork();
	if (!child) {
		static const struct cache_turn_wait wait;
		struct cache_turn turn = {0};
		int failed;

		(void)close(end[1]);
		failed = cache_turn_take(NULL, cache, &wait, &turn) || !turn.lock ||
				 write(ready[1], "x", 1) != 1 || read(end[0], &byte, 1) < 0;
		cache_turn_end(&turn);
		_exit(failed);
	}
	(void)close(ready[1]);
	(void)close(end[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	*ret_end = end[1];
	return child;
}

struct heard {
	char line[512];
	size_t lines;
};

static void hear(void *context, const char *line)
{
	struct heard *heard = context;

	(void)snprintf(heard->line, sizeof heard->line, "%s", line);
	heard->lines++;
}

static bool has_heard(void *context)
{
	return ((const struct heard *)context)->lines > 0;
}

static struct heard wait_for_it(const char *cache)
{
	struct heard heard = {.lines = 0};
	const struct cache_turn_wait wait = {&heard, hear, {&heard, has_heard}};
	struct cache_turn turn = {0};

	GIVES(JW_ERR_INTERRUPTED, cache_turn_take(why, cache, &wait, &turn));
	assert_int_equal(heard.lines, 1);
	return heard;
}

static int holders_end = -1;

/* The holder ends when somebody waits for it. */
static bool let_go(void *context)
{
	if (has_heard(context) && holders_end >= 0) {
		(void)close(holders_end);
		holders_end = -1;
	}
	return false;
}

TEST(who_waits_is_told_once_and_gets_the_turn)
{
	char *cache = keep(os_join(folder, "waited"));
	const pid_t child = hold_turn(cache, &holders_end);
	struct heard heard = {.lines = 0};
	const struct cache_turn_wait wait = {&heard, hear, {&heard, let_go}};
	struct cache_turn turn = {0};
	int status;

	OK(cache_turn_take(why, cache, &wait, &turn));
	assert_int_equal(heard.lines, 1);
	assert_true(turn.waited);
	expect_in_place(turn.lock, turn.lock_path);
	assert_true(os_exists(turn.holder_path));
	cache_turn_end(&turn);
	expect_nothing(cache);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The holder is named by its file, which may be gone and may contain anything. */
TEST(who_has_the_turn_is_named)
{
	static const struct {
		const char *content, *who;
	} cases[] = {
		{"{\"host\":\"h\",\"pid\":7,\"since\":4000000000}",
		 "jitwarm on h (process 7, started just now)"},
		{"{\"host\":\"h\",\"pid\":7,\"since\":1}", "jitwarm on h (process 7, for "},
		{"{\"since\":1}", "jitwarm on ? (process 0, for "},
		{"{\"host\":\"h\",\"pid\":7}", "another jitwarm primes the same cache"},
		{"no JSON", "another jitwarm primes the same cache"},
		{NULL, "another jitwarm primes the same cache"},
	};
	char *cache = keep(os_join(folder, "held")), own[64];
	char *holder = keep(os_join(folder, "held/.jitwarm-holder"));
	struct heard heard;
	int end, status;
	const pid_t child = hold_turn(cache, &end);

	heard = wait_for_it(cache);
	(void)snprintf(own, sizeof own, "(process %d, ", (int)child);
	assert_memory_equal(heard.line, "jitwarm on ", 11);
	assert_non_null(strstr(heard.line, own));
	assert_non_null(strstr(heard.line, ") primes the same cache: waiting for it to finish"));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (cases[i].content)
			OK(os_write_atomic(why, holder, cases[i].content, strlen(cases[i].content)));
		else
			OK(os_remove(why, holder));
		heard = wait_for_it(cache);
		if (strncmp(heard.line, cases[i].who, strlen(cases[i].who)) != 0)
			fail_msg("%s", heard.line);
	}
	(void)close(end);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

RUN_TESTS(make_folder, remove_folder)
