/* Runs a scenario once for each call that may fail, and judges what is left. */
#include "struck_try.h"

#include "check.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>
#include <uv.h>

#include "base/mem.h"
#include "files.h"
#include "os/env.h"
#include "os/folders.h"
#include "struck_tree.h"
#include "torture.h"

static char *folder, *now, *kept, *state, *cache;
static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};

enum { MAX_FRAMES = 48, MAX_CALLS = 4096 };

static const char *struck; /* the call that failed; NULL: none */
static bool is_off_disk;   /* that call was a file's fsync, so its bytes may not be on the disk */
static bool changes[MAX_CALLS];
static void *frames[MAX_FRAMES];
static int depth;

/* jitwarm would wait for a write of another process, and there is none. The function is wrapped,
 * since a static libuv has it in one object with functions that are needed. */
void __wrap_uv_sleep(unsigned ms);
void __wrap_uv_sleep(unsigned ms)
{
	(void)ms;
}

/* Says whether the call writes, renames, locks or the like. */
static bool note(unsigned long number, const char *call, const char *path)
{
	static const char *const names[] = {"create", "write", "rename", "fsync",
										"lock",   "mkdir", "resize", "mode"};

	(void)path;
	for (size_t i = 0; number <= MAX_CALLS && i < sizeof names / sizeof *names; i++)
		changes[number - 1] |= !strcmp(call, names[i]);
	return false;
}

static bool strikes(unsigned long number, const char *call, const char *path)
{
	struct os_stat stat;

	(void)number;
	struck = call;
	is_off_disk = !strcmp(call, "fsync") && !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR;
	depth = backtrace(frames, MAX_FRAMES);
	return true;
}

/* Runs the scenario with the n-th call failing; 0: none. */
static int do_with(const struct struck_scenario *scenario, size_t n, struct jw_error *err)
{
	const struct torture torture = {.mode = n ? TORTURE_FAIL : TORTURE_COUNT,
									.wanted = n,
									.is_own = true,
									.strikes = n ? strikes : note};
	int result;

	struck = NULL;
	torture_begin(&torture);
	result = scenario->does(err);
	torture_end();
	return result;
}

static uint64_t sum_of(const struct struck_scenario *scenario)
{
	char *dir = os_join(now, scenario->compared);
	uint64_t sum = os_exists(dir) ? tree_sum(dir) : 0;

	mem_free(dir);
	return sum;
}

static void wrong(const struct struck_scenario *scenario, size_t n, const char *what,
				  const struct jw_error *err)
{
	check_wrong("%s: %s %zu fails: %s (%d: %s)", scenario->name, struck, n, what, (int)err->code,
				err->message);
	if (getenv("STRUCK"))
		fprintf(stderr, "%s", tree_text());
	backtrace_symbols_fd(frames, depth, STDERR_FILENO);
}

static bool may_differ(const struct struck_scenario *scenario)
{
	return scenario->is_same == NEXT_TIME &&
		   (!strcmp(struck, "unlink") || !strcmp(struck, "stat") || !strcmp(struck, "open"));
}

static bool may_differ_again(const struct struck_scenario *scenario)
{
	return scenario->is_same == AT_FIRST ||
		   (scenario->is_same != NEXT_TIME && !strcmp(struck, "unlink"));
}

/* Says whether the scenario handles that failure as it should. */
static bool bears(const struct struck_scenario *scenario, size_t n, uint64_t whole,
				  bool *ret_struck)
{
	const size_t files = tree_open_files();
	struct jw_error err = {0}, again = {0};
	const char *what = NULL;
	int result;

	result = do_with(scenario, n, &err);
	*ret_struck = struck != NULL;
	if (!struck)
		return true;
	if (result < 0 && (!err.code || !*err.message))
		what = "it says nothing";
	else if (!result && err.code)
		what = "it does its work, and an error is set";
	else if (!result && is_off_disk)
		what = "what is not on the disk is said to be done";
	else if (!result && !may_differ(scenario) && sum_of(scenario) != whole)
		what = "it says that it did its work";
	else if (tree_open_files() != files)
		what = "a file is left open";
	if (what) {
		wrong(scenario, n, what, &err);
		return false;
	}
	if (scenario->does(&again) < 0)
		what = "it cannot be done again";
	else if (!may_differ_again(scenario) && sum_of(scenario) != whole)
		what = "done again it is another";
	if (what)
		wrong(scenario, n, what, &again);
	return !what;
}

static void start_anew(const struct struck_scenario *scenario)
{
	tree_remove(now);
	tree_remove(kept);
	OK(os_make_dirs(why, state, 0700));
	files_put_text(now, "root/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n");
	files_put_text(now, "home/.profile", "\n");
	scenario->prepare();
	tree_copy(now, kept);
	/* The files of a copy have another age. */
	tree_remove(now);
	tree_copy(kept, now);
}

static void try_scenario(const struct struck_scenario *scenario, size_t usual_every)
{
	const char *given = getenv("STRUCK_EVERY");
	const size_t every = given ? strtoul(given, NULL, 10) : usual_every;
	size_t tried = 0, bad = 0;
	bool reached = true;
	uint64_t whole;

	start_anew(scenario);
	memset(changes, 0, sizeof changes);
	if (do_with(scenario, 0, why))
		fail_msg("%s: %s", scenario->name, why->message);
	whole = sum_of(scenario);
	for (size_t n = 1; reached; n++) {
		if ((n - 1) % (every ? every : 1) && !(n <= MAX_CALLS && changes[n - 1]))
			continue;
		tree_remove(now);
		tree_copy(kept, now);
		bad += !bears(scenario, n, whole, &reached);
		tried += reached;
	}
	print_message("%s: %zu calls tried, %zu wrong\n", scenario->name, tried, bad);
	assert_int_equal(bad, 0);
	assert_true(tried > 0);
}

static const struct struck_group *group;

static void what_fails_is_said_and_done_again(void **unused)
{
	const char *wanted = getenv("STRUCK");

	(void)unused;
	for (size_t i = 0; i < group->count; i++)
		if (!wanted || !strcmp(wanted, group->scenarios[i].name))
			try_scenario(&group->scenarios[i], group->usual_every);
}

/* The returned path may be a variable's value, too. */
static char *inside(const char *name, const char *variable)
{
	char *path = os_join(now, name);

	assert_non_null(path);
	OK(variable ? os_env_set(why, variable, path) : 0);
	return path;
}

static void set_machine(void)
{
	struct jw_system *machine = group->machine;

	*machine = (struct jw_system){.gpus = &gpu, .gpu_count = 1, .state_dir = state};
	machine->cache.path = cache;
	machine->cache.limit_bytes = UINT64_C(1) << 30;
	(void)snprintf(machine->driver.stamp, sizeof machine->driver.stamp, "Jun 25 202401:14:48");
	machine->driver.version = (struct jw_driver){12050, {555, 58, 2}};
	machine->driver.trust = JW_TRUST_CONFIRMED;
}

static int set_up(void **unused)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME",     "XDG_RUNTIME_DIR",
										 "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CONDA_PREFIX",
										 "ZDOTDIR",         "CUDA_CACHE_DISABLE", "JITWARM_STORE"};

	(void)unused;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		OK(os_env_set(why, others[i], NULL));
	OK(os_env_set(why, "SHELL", "/bin/bash"));
	/* If Python were a script there, jitwarm would run it each time to learn which Python it
	 * starts. */
	OK(os_env_set(why, "PATH", "/usr/bin:/bin"));
	/* In memory, no trial waits for a disk. */
	if (!access("/dev/shm", W_OK))
		OK(os_env_set(why, "TMPDIR", "/dev/shm"));
	OK(os_make_temp_dir(why, "jitwarm-test", &folder));
	*group->now = now = os_join(folder, "now");
	kept = os_join(folder, "kept");
	state = inside("state", "JITWARM_STATE");
	cache = inside("cache", NULL);
	mem_free(inside("home", "HOME"));
	mem_free(inside("root", "JITWARM_SYSTEM_ROOT"));
	for (const struct struck_path *one = group->paths; one->path; one++)
		*one->path = inside(one->name, NULL);
	set_machine();
	return 0;
}

static int tear_down(void **unused)
{
	int result = os_remove_tree(NULL, folder);
	char *const own[] = {folder, now, kept, state, cache};

	(void)unused;
	for (const struct struck_path *one = group->paths; one->path; one++)
		mem_free(*one->path);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		mem_free(own[i]);
	return result;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_fails_is_said_and_done_again)};
	int failed = sodium_init() < 0;

	group = &struck_files;
	failed += cmocka_run_group_tests(tests, set_up, tear_down);
	return check_end(failed);
}
