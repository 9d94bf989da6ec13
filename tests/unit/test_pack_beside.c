/* The store while other processes use it: their actions before it is locked, their leftovers, and
 * the effects of a bad disk or a file system without locks. */
#include "folder.h"
#include "gates_posix.h"

#include <jitwarm/store.h>

#include "base/text.h"
#include "cache/entry.h"
#include "pack/store_packs.h"
#include "packs.h"

enum { ENTRIES = 3 };

static struct jw_system system_of;
static uint64_t keys[ENTRIES];
static char *store, *aside;

static int begin(void **state)
{
	if (make_folder(state))
		return -1;
	system_of = packs_machine(folder);
	store = keep(os_join(folder, "store"));
	aside = keep(os_join(folder, "aside.jwpack"));
	for (unsigned n = 0; n < ENTRIES; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 100);
		keys[n] = entry.key;
		packs_put(system_of.cache.path, entry.key, entry.bytes, entry.size);
	}
	packs_keep(&system_of, ENTRIES);
	return 0;
}

static int end(void **state)
{
	gate_before_lock = NULL;
	return remove_folder(state);
}

/* Returns the pack's path while it is in the store. */
static char *pack_path(void)
{
	const struct jw_store_options options = {.state_dir = folder};
	struct jw_store *opened;
	char *path;

	OK(jw_store_open(why, &options, &opened));
	assert_int_equal(opened->count, 1);
	path = os_join(store, opened->packs[0].name);
	jw_result_free(opened);
	return path;
}

static size_t refilled(void)
{
	const struct jw_store_refill_options options = {
		.system = &system_of, .keys = keys, .count = ENTRIES};
	struct jw_store_refilled done = {0};

	OK(os_remove_tree(why, system_of.cache.path));
	OK(jw_store_refill(why, &options, &done));
	return done.entries;
}

static char *in_store;

static void bring_back(const char *path)
{
	if (text_ends(path, "/store/lock") && os_exists(aside))
		OK(os_rename(why, aside, in_store));
}

/* Another run may add a pack until the lock is taken: only a reader that has the lock sees it. */
TEST_WITH(the_store_is_read_behind_its_lock, begin, end)
{
	in_store = keep(pack_path());
	for (int call = 0; call < 2; call++) {
		OK(os_rename(why, in_store, aside));
		gate_before_lock = bring_back;
		gate_locks_busy = 2;
		if (call == 0)
			packs_keep(&system_of, 0);
		else
			assert_int_equal(refilled(), ENTRIES);
		gate_before_lock = NULL;
	}
}

/* Whichever run has the lock removes the leftovers of killed runs. */
TEST_WITH(leftovers_go_with_the_lock_alone, begin, end)
{
	static const char *const names[] = {"new", ".new.jitwarm-0123abcd", "new.a1b2c3"};

	for (int locks = 0; locks < 2; locks++) {
		for (size_t i = 0; i < 3; i++)
			files_put_text(store, names[i], "half");
		gate_locks_fail = !locks;
		packs_keep(&system_of, 0);
		gate_locks_fail = false;
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(os_exists(keep(os_join(store, names[i]))), !locks);
		}
	}
	mem_free(pack_path());
}

/* The pack may be whole: only a pack that was read and found broken is removed. */
TEST_WITH(a_pack_that_cannot_be_read_stays, begin, end)
{
	char *path = keep(os_join(store, "x.jwpack"));
	struct stat stat;

	assert_int_equal(symlink("x.jwpack", path), 0);
	packs_keep(&system_of, 0);
	assert_int_equal(lstat(path, &stat), 0);
}

static unsigned swept, swept_alone;

static void see_lock(const char *path)
{
	char *lock = keep(os_join(store, "lock"));

	swept += text_ends(path, "/broken.jwpack");
	swept_alone += text_ends(path, "/broken.jwpack") && !gate_can_lock(lock);
}

/* Another run may have listed the pack. */
TEST_WITH(packs_go_behind_the_lock, begin, end)
{
	files_put_text(store, "broken.jwpack", "no pack");
	gate_before_removal = see_lock;
	packs_keep(&system_of, 0);
	gate_before_removal = NULL;
	assert_int_equal(swept, 1);
	assert_int_equal(swept_alone, 1);
}

static bool at_once(void *context)
{
	(void)context;
	return true;
}

/* A pack is kept for each GPU, and not after Ctrl-C; a broken pack is removed before whole ones. */
TEST_WITH(what_is_kept_is_of_each_gpu, begin, end)
{
	static struct jw_gpu both[] = {{.name = "A", .target = {.sm = 75}},
								   {.name = "B", .target = {.sm = 86}}};
	struct jw_store_keep_options options = {.system = &system_of, .cancel.is_cancelled = at_once};
	const int64_t long_ago_ns = INT64_C(1000000000) * 1000000000;
	char *broken = keep(os_join(store, "broken.jwpack")), *whole;
	struct os_stat stat;
	size_t kept = 7;

	OK(os_remove_tree(why, store));
	system_of.gpus = both;
	system_of.gpu_count = 2;
	GIVES(JW_ERR_INTERRUPTED, jw_store_keep(why, &options, &kept));
	packs_keep(&system_of, ENTRIES);
	whole = keep(pack_path());
	OK(os_stat(why, whole, &stat));
	files_put_text(store, "broken.jwpack", "no pack");
	check_set_mtime(broken, long_ago_ns);
	options.cancel.is_cancelled = NULL;
	options.most_bytes = stat.size_bytes;
	OK(jw_store_keep(why, &options, &kept));
	assert_int_equal(kept, 0);
	assert_false(os_exists(broken));
	assert_true(os_exists(whole));
}

RUN_TESTS(NULL, NULL)
