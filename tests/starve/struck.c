/* Functions of the library that write, in which one allocation or one call of the system fails,
 * each in its turn. Where one says that it has done its work, the files are those of a run in which
 * nothing failed, and no error is set. Where it says that it has not, it says why. Either way it
 * leaves no file open, and does its work the next time.
 *
 * $STRUCK_EVERY: each so many-th alone, but each call that changes a file; $STRUCK: only what has
 * this name. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jitwarm/cache.h>
#include <jitwarm/carry.h>
#include <jitwarm/key.h>
#include <jitwarm/pack.h>
#include <jitwarm/prune.h>
#include <jitwarm/store.h>
#include <jitwarm/tune.h>
#include <jitwarm/uninstall.h>

#include <sodium.h>

#include "cache/insert.h"
#include "entries.h"
#include "history/ledger.h"
#include "os/env.h"
#include "os/folders.h"
#include "packs.h"
#include "struck_fault.h"
#include "struck_tree.h"

enum { ENTRIES = 4, NOT_WHOLE = 1, USUAL_EVERY = 11 };

/* ---- what is there */

static char *folder, *now, *kept, *cache, *target, *state, *pack, *loose;
static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};
static struct jw_system machine;

static void put(const char *dir, unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, n);
	packs_put(dir, entry.key, entry.bytes, entry.size);
}

static uint64_t key_of(unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, n);
	return entry.key;
}

static void put_cache(void)
{
	for (unsigned n = 0; n < ENTRIES; n++)
		put(cache, n);
}

static void put_pack(void)
{
	put_cache();
	(void)packs_export(cache, pack);
	assert_int_equal(os_remove_tree(NULL, cache), 0);
}

/* An entry of the pack is there, another one is damaged. */
static void put_target(void)
{
	struct entries_entry entry;

	put_pack();
	put(target, 0);
	entries_make(&entry, 1, 1);
	packs_put(target, entry.key, entry.bytes, entry.size - 20);
}

static void put_loose(void)
{
	struct entries_entry entry;

	put(cache, 0);
	entries_make(&entry, 1, 1);
	assert_int_equal(os_write_atomic(NULL, loose, entry.bytes, entry.size), 0);
}

/* An entry that is cut, one whose value is another, and an index without rows. */
static void put_broken(void)
{
	struct entries_entry entry;

	put_cache();
	entries_make(&entry, 1, 1);
	packs_put(cache, entry.key, entry.bytes, entry.size - 20);
	entries_make(&entry, 2, 2);
	entry.bytes[entry.size - 1] ^= 1;
	packs_put(cache, entry.key, entry.bytes, entry.size);
	files_put(cache, "index", "A\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

static void put_store(void)
{
	put_cache();
	packs_keep(&machine, ENTRIES);
	assert_int_equal(os_remove_tree(NULL, cache), 0);
}

static void put_stores(void)
{
	for (unsigned n = 0; n < 3; n++) {
		put(cache, n);
		packs_keep(&machine, 1);
	}
}

static void put_profile(void)
{
	files_put_text(now, "home/.bashrc", "export CUDA_CACHE_MAXSIZE=5\nexport OTHER=1\n");
}

static void put_key(void)
{
	struct jw_key key;

	assert_int_equal(jw_key_generate(NULL, state, "ours", NULL, &key), 0);
}

/* ---- what is done: 0, NOT_WHOLE where it says that something is missing, or -1 */

static int inserts(struct jw_error *err)
{
	const struct cache_live_options options = {.limit_bytes = 1 << 30};
	struct entries_entry entries[ENTRIES];
	struct cache_part parts[ENTRIES][2];
	struct cache_addition additions[ENTRIES] = {{0}};
	struct cache_live *live;
	int result;

	for (unsigned n = 0; n < ENTRIES; n++) {
		size_t head;

		entries_make(&entries[n], n, n);
		head = CACHE_ENTRY_HEADER + (size_t)entries[n].key_bytes;
		parts[n][0] = (struct cache_part){entries[n].bytes, head};
		parts[n][1] = (struct cache_part){entries[n].bytes + head, entries[n].size - head};
		additions[n] = (struct cache_addition){.path = n == 1 ? loose : NULL,
											   .bytes = entries[n].bytes,
											   .size_bytes = entries[n].size,
											   .key = entries[n].key,
											   .key_bytes = entries[n].key_bytes,
											   .sm = 86,
											   .parts = n >= 2 ? parts[n] : NULL,
											   .part_count = n >= 2 ? 2 : 0,
											   .verified = n >= 2};
	}
	if (cache_live_open(err, cache, &options, &live))
		return -1;
	result = cache_insert(err, live, additions, ENTRIES);
	if (cache_live_close(result ? NULL : err, live))
		return -1;
	for (unsigned n = 0; !result && n < ENTRIES; n++)
		if (additions[n].added == CACHE_ADDED_REFUSED && *additions[n].why.message)
			return NOT_WHOLE;
	return result;
}

static int export_as(struct jw_error *err, bool opaque)
{
	const struct jw_export_options options = {.size = sizeof options,
											  .cache_dir = cache,
											  .system = opaque ? &machine : NULL,
											  .output = pack,
											  .opaque = opaque};
	struct jw_export_result result = {.size = sizeof result};

	if (jw_export(err, &options, &result))
		return -1;
	return result.damaged + result.unreadable ? NOT_WHOLE : 0;
}

static int exports(struct jw_error *err)
{
	return export_as(err, false);
}

static int exports_opaque(struct jw_error *err)
{
	return export_as(err, true);
}

static int signs(struct jw_error *err)
{
	const struct jw_export_options options = {.size = sizeof options,
											  .cache_dir = cache,
											  .output = pack,
											  .sign_key = "ours",
											  .state_dir = state};
	struct jw_export_result result = {.size = sizeof result};

	if (jw_export(err, &options, &result))
		return -1;
	return result.damaged + result.unreadable ? NOT_WHOLE : 0;
}

static int imports(struct jw_error *err)
{
	const struct jw_import_options options = {.size = sizeof options,
											  .path = pack,
											  .cache_dir = target,
											  .allow_unsigned = true,
											  .state_dir = state,
											  .limit_bytes = 1 << 30};
	struct jw_import_result *result;
	size_t missing;

	if (jw_import(err, &options, &result))
		return -1;
	missing = result->refused + (*result->unmarked != 0);
	jw_import_result_free(result);
	return missing ? NOT_WHOLE : 0;
}

static int repairs(struct jw_error *err)
{
	const struct jw_cache_options options = {.size = sizeof options, .path = cache};
	struct jw_cache_repaired repaired;

	if (jw_cache_repair(err, &options, &repaired))
		return -1;
	/* What cannot be looked at stays */
	return repaired.removed < 2 || repaired.counted < 2 ? NOT_WHOLE : 0;
}

static int prunes(struct jw_error *err)
{
	const struct jw_prune_options options = {
		.size = sizeof options,
		.cache_dir = cache,
		.system = &machine,
		.damaged = true,
		.keep = pack,
		.apply = true,
	};
	struct jw_prune_result *result;
	size_t removed;

	if (jw_prune(err, &options, &result))
		return -1;
	removed = result->removed;
	jw_prune_result_free(result);
	return removed < 2 ? NOT_WHOLE : 0;
}

static int keeps(struct jw_error *err)
{
	const struct jw_store_keep_options options = {.size = sizeof options, .system = &machine};
	size_t entries;

	if (jw_store_keep(err, &options, &entries))
		return -1;
	return entries < ENTRIES ? NOT_WHOLE : 0;
}

static int refills(struct jw_error *err)
{
	uint64_t keys[ENTRIES];
	const struct jw_store_refill_options options = {
		.size = sizeof options, .system = &machine, .keys = keys, .count = ENTRIES};
	struct jw_store_refilled refilled = {0};

	for (unsigned n = 0; n < ENTRIES; n++)
		keys[n] = key_of(n);
	if (jw_store_refill(err, &options, &refilled))
		return -1;
	return refilled.entries < ENTRIES ? NOT_WHOLE : 0;
}

static int sweeps(struct jw_error *err)
{
	struct jw_store_swept swept = {0};

	if (jw_store_gc(err, state, JW_STORE_DEFAULT_BYTES, &swept))
		return -1;
	return swept.merged < 3 ? NOT_WHOLE : 0;
}

static int marks(struct jw_error *err)
{
	static const struct ledger_new_mark mark = {LEDGER_OLDER, 1, 2, "Jun 25 202401:14:48"};
	const struct ledger_change change = {.marks = &mark, .mark_count = 1};

	return ledger_change_marks(err, state, cache, &change);
}

static int tunes(struct jw_error *err)
{
	struct jw_tune_request request = JW_TUNE_REQUEST_INIT;
	struct jw_tune_result *result;

	request.scope = JW_SCOPE_SHELL;
	request.limit_bytes = 1u << 30;
	request.path = target;
	request.remove_overrides = true;
	if (jw_tune_apply(err, &request, &result))
		return -1;
	jw_tune_result_free(result);
	return 0;
}

static void put_tuned(void)
{
	put_profile();
	assert_int_equal(tunes(NULL), 0);
}

static int untunes(struct jw_error *err)
{
	struct jw_tune_result *result;

	if (jw_tune_undo(err, NULL, &result))
		return -1;
	jw_tune_result_free(result);
	return 0;
}

static void put_all(void)
{
	put_cache();
	put_tuned();
	put_key();
}

static int uninstalls(struct jw_error *err)
{
	const struct jw_uninstall_options options = {.size = sizeof options, .with_keys = true};
	size_t failed = 0;

	if (jw_uninstall(err, &options, &failed))
		return -1;
	return failed ? NOT_WHOLE : 0;
}

static int trusts(struct jw_error *err)
{
	struct jw_key key;
	char *text = os_join(err, state, "keys/ours.pub");
	int result = text ? jw_key_trust(err, state, "second", text, &key) : -1;

	mem_free(text);
	return result && err && err->code == JW_ERR_USAGE ? 0 : result;
}

static const struct scenario {
	const char *name;
	void (*prepare)(void);
	int (*does)(struct jw_error *err);
	const char *compared; /* below the folder; "": all of it */
	enum {
		ALWAYS,
		WITH_MEMORY, /* a variable that memory lacks for may be taken for one that is not set */
		AT_FIRST,    /* what is left over comes into a pack of its own */
	} is_same;
} scenarios[] = {
	{"insert", put_loose, inserts, "", ALWAYS},
	{"export", put_cache, exports, "", ALWAYS},
	{"export, opaque", put_cache, exports_opaque, "", ALWAYS},
	{"export, signed", put_all, signs, "state/keys", ALWAYS},
	{"import", put_target, imports, "target", ALWAYS},
	{"repair", put_broken, repairs, "cache", ALWAYS},
	{"prune", put_broken, prunes, "cache", ALWAYS},
	{"keep", put_cache, keeps, "state/store", AT_FIRST},
	{"refill", put_store, refills, "cache", ALWAYS},
	{"sweep", put_stores, sweeps, "state/store", AT_FIRST},
	{"mark", put_cache, marks, "state", ALWAYS},
	{"tune", put_profile, tunes, "home", WITH_MEMORY},
	{"undo", put_tuned, untunes, "", ALWAYS},
	{"uninstall", put_all, uninstalls, "home", WITH_MEMORY},
	{"trust", put_key, trusts, "state", ALWAYS},
};

/* ---- */

static uint64_t sum_of(const struct scenario *scenario)
{
	char *dir = os_join(NULL, now, scenario->compared);
	uint64_t sum = os_exists(dir) ? tree_sum(dir) : 0;

	mem_free(dir);
	return sum;
}

static void wrong(const struct scenario *scenario, size_t n, const char *what,
				  const struct jw_error *err)
{
	fprintf(stderr, "%s: %s %zu fails: %s (%d: %s)\n", scenario->name, fault_struck(), n, what,
			(int)err->code, err->message);
	if (getenv("STRUCK"))
		fprintf(stderr, "%s", tree_text());
	fault_show();
}

/* Whether it bore that failure. */
static bool bears(const struct scenario *scenario, size_t n, bool calls, uint64_t whole,
				  bool *ret_struck)
{
	const size_t files = tree_open_files();
	struct jw_error err = {0}, again = {0};
	const char *what = NULL;
	int result;

	fault_begin(calls, n);
	result = scenario->does(&err);
	*ret_struck = fault_end(calls);
	if (!*ret_struck)
		return true;
	if (result < 0 && (!err.code || !*err.message))
		what = "it says nothing";
	else if (!result && err.code)
		what = "it does its work, and an error is set";
	else if (!result && (calls || scenario->is_same != WITH_MEMORY) && sum_of(scenario) != whole)
		what = "it says that it did its work";
	else if (tree_open_files() != files)
		what = "a file is left open";
	if (what) {
		wrong(scenario, n, what, &err);
		return false;
	}
	if (scenario->does(&again) < 0)
		what = "it cannot be done again";
	else if (strcmp(fault_struck(), "unlink") != 0 && scenario->is_same != AT_FIRST &&
			 (calls || scenario->is_same != WITH_MEMORY) && sum_of(scenario) != whole)
		what = "done again it is another";
	if (what)
		wrong(scenario, n, what, &again);
	return !what;
}

static void start_anew(const struct scenario *scenario)
{
	assert_int_equal(os_remove_tree(NULL, now), 0);
	assert_int_equal(os_remove_tree(NULL, kept), 0);
	assert_int_equal(os_make_dirs(NULL, state, 0700), 0);
	files_put_text(now, "root/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n");
	files_put_text(now, "home/.profile", "\n");
	scenario->prepare();
	tree_copy(now, kept);
	/* A copy's files are of another age */
	assert_int_equal(os_remove_tree(NULL, now), 0);
	tree_copy(kept, now);
}

static void try_scenario(const struct scenario *scenario)
{
	const char *given = getenv("STRUCK_EVERY");
	const size_t every = given ? strtoul(given, NULL, 10) : USUAL_EVERY;
	struct jw_error err = {0};
	size_t tried[2] = {0}, bad = 0;
	uint64_t whole;

	start_anew(scenario);
	fault_begin(true, SIZE_MAX);
	if (scenario->does(&err))
		fail_msg("%s: %s", scenario->name, err.message);
	(void)fault_end(true);
	whole = sum_of(scenario);
	for (unsigned calls = 0; calls < 2; calls++) {
		bool reached = true;

		for (size_t n = 1; reached; n++) {
			if ((n - 1) % (every ? every : 1) && (!calls || !fault_changes(n)))
				continue;
			assert_int_equal(os_remove_tree(NULL, now), 0);
			tree_copy(kept, now);
			bad += !bears(scenario, n, calls != 0, whole, &reached);
			tried[calls] += reached;
		}
	}
	print_message("%s: %zu allocations, %zu calls tried, %zu wrong\n", scenario->name, tried[0],
				  tried[1], bad);
	assert_int_equal(bad, 0);
	assert_true(tried[0] && tried[1]);
}

static void what_fails_is_said_and_done_again(void **unused)
{
	const char *wanted = getenv("STRUCK");

	(void)unused;
	for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
		if (!wanted || !strcmp(wanted, scenarios[i].name))
			try_scenario(&scenarios[i]);
}

static char *inside(const char *name, const char *variable)
{
	char *path = os_join(NULL, now, name);

	assert_non_null(path);
	assert_int_equal(variable ? os_env_set(NULL, variable, path) : 0, 0);
	return path;
}

static int set_up(void **unused)
{
	static const char *const others[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME",     "XDG_RUNTIME_DIR",
										 "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CONDA_PREFIX",
										 "ZDOTDIR",         "CUDA_CACHE_DISABLE", "JITWARM_STORE"};

	(void)unused;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(os_env_set(NULL, others[i], NULL), 0);
	assert_int_equal(os_env_set(NULL, "SHELL", "/bin/bash"), 0);
	/* No disk has to be waited for */
	if (!access("/dev/shm", W_OK))
		assert_int_equal(os_env_set(NULL, "TMPDIR", "/dev/shm"), 0);
	assert_int_equal(os_make_temp_dir(NULL, "jitwarm-test", &folder), 0);
	now = os_join(NULL, folder, "now");
	kept = os_join(NULL, folder, "kept");
	cache = inside("cache", NULL);
	target = inside("target", NULL);
	pack = inside("a.jwpack", NULL);
	loose = inside("loose", NULL);
	state = inside("state", "JITWARM_STATE");
	mem_free(inside("home", "HOME"));
	mem_free(inside("root", "JITWARM_SYSTEM_ROOT"));
	machine = (struct jw_system){.gpus = &gpu, .gpu_count = 1, .state_dir = state};
	machine.cache.path = cache;
	machine.cache.limit_bytes = UINT64_C(1) << 30;
	(void)snprintf(machine.driver.stamp, sizeof machine.driver.stamp, "Jun 25 202401:14:48");
	machine.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	machine.driver.trust = JW_TRUST_CONFIRMED;
	return 0;
}

static int tear_down(void **unused)
{
	char **const all[] = {&folder, &now, &kept, &cache, &target, &pack, &loose, &state};
	int result = os_remove_tree(NULL, folder);

	(void)unused;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mem_free(*all[i]);
	return result;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_fails_is_said_and_done_again)};

	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, set_up, tear_down);
}
