/* The store restores only wanted entries, reports those that it does not restore, and removes the
 * oldest packs first. */
#include "folder.h"

#include <jitwarm/key.h>
#include <jitwarm/store.h>

#include "base/text.h"
#include "cache/entry.h"
#include "driver/state_file.h"
#include "entries.h"
#include "files.h"
#include "pack/store_packs.h"
#include "packs.h"

static uint64_t put_entry(const struct jw_system *system, unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, n);
	packs_put(system->cache.path, entry.key, entry.bytes, entry.size);
	return entry.key;
}

static struct jw_store_refilled told;

static size_t refill(const struct jw_system *system, const uint64_t *keys, size_t count)
{
	struct jw_store_refilled dry = {0}, refilled = {0};
	struct jw_store_refill_options options = {
		.system = system, .keys = keys, .count = count, .dry_run = true};
	int failed = jw_store_refill(why, &options, &dry);

	/* The dry run predicts the result. */
	options.dry_run = false;
	if (failed || jw_store_refill(why, &options, &refilled))
		fail_msg("%s", why->message);
	assert_int_equal(refilled.entries, dry.entries);
	assert_int_equal(refilled.note_count, dry.note_count);
	told = refilled;
	return refilled.entries;
}

static bool is_there(const struct jw_system *system, uint64_t key)
{
	return cache_presence(system->cache.path, key, 0, NULL) == CACHE_PRESENT;
}

TEST_WITH(only_wanted_entries_are_restored, make_folder, remove_folder)
{
	struct jw_system system;
	uint64_t keys[4], unknown = 1;

	system = packs_machine(folder);
	for (unsigned n = 0; n < 4; n++)
		keys[n] = put_entry(&system, n);
	packs_keep(&system, 4);
	packs_keep(&system, 0);
	OK(os_remove_tree(why, system.cache.path));
	assert_int_equal(refill(&system, &unknown, 1), 0);
	assert_false(os_exists(system.cache.path));
	assert_int_equal(refill(&system, keys + 1, 2), 2);
	assert_false(is_there(&system, keys[0]));
	assert_true(is_there(&system, keys[1]));
	assert_true(is_there(&system, keys[2]));
	assert_false(is_there(&system, keys[3]));
	assert_int_equal(refill(&system, keys, 4), 2);
	assert_int_equal(refill(&system, keys, 4), 0);
}

/* The first few damaged packs and entries that do not fit are named, and the others are counted. */
TEST_WITH(entries_that_are_not_restored_are_reported, make_folder, remove_folder)
{
	char *store = keep(os_join(folder, "store")), *path;
	struct jw_system system;
	uint64_t keys[4];

	system = packs_machine(folder);
	OK(os_remove_tree(why, store));
	for (unsigned n = 0; n < 4; n++)
		keys[n] = put_entry(&system, n);
	packs_keep(&system, 4);
	OK(os_remove_tree(why, system.cache.path));
	/* Each entry takes a hundred bytes, so two fit. */
	system.cache.limit_bytes = 230;
	assert_int_equal(refill(&system, keys, 4), 2);
	assert_int_equal(told.note_count, 1);
	assert_non_null(strstr(told.notes[0], "2 entries left out: "));
	assert_non_null(strstr(told.notes[0], "left out: no space in the cache"));
	system.cache.limit_bytes = UINT64_C(1) << 30;
	assert_int_equal(refill(&system, keys, 4), 2);
	assert_int_equal(told.note_count, 0);
	for (unsigned n = 0; n < JW_STORE_MAX_NOTES + 3; n++) {
		path = keep(mem_printf("%s/sm_86-%u.jwpack", store, n));
		OK(os_write_atomic(why, path, "no pack", 7));
	}
	assert_int_equal(refill(&system, keys, 4), 0);
	assert_int_equal(told.note_count, JW_STORE_MAX_NOTES);
	assert_int_equal(told.more_notes, 3);
	assert_non_null(strstr(told.notes[0], "sm_86-"));
	assert_non_null(strstr(told.notes[0], "not a pack"));
	OK(os_remove_tree(why, store));
	OK(os_remove_tree(why, system.cache.path));
}

/* If space is short, the oldest pack is removed first; of two of equal age, the one whose name
 * comes first. */
TEST_WITH(packs_are_listed_by_their_age, make_folder, remove_folder)
{
	static const struct {
		const char *name;
		int64_t age_s;
	} packs[] = {{"sm_86-a", 1}, {"sm_86-b", 3}, {"sm_86-c", 2}, {"sm_86-d", 2}};
	static const size_t wanted[] = {1, 2, 3, 0};
	const struct jw_store_options options = {.state_dir = folder};
	struct jw_store *store;

	for (size_t i = 0; i < 4; i++) {
		char *path = keep(mem_printf("%s/store/%s.jwpack", folder, packs[i].name));

		files_put_at(mem_string(path), "no pack", 7);
		check_set_mtime(path, (1700000000 - packs[i].age_s) * INT64_C(1000000000));
	}
	OK(jw_store_open(why, &options, &store));
	assert_int_equal(store->count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(text_starts(store->packs[i].name, packs[wanted[i]].name));
	jw_result_free(store);
}

/* A pack without its PTX, as jitwarm made them once, is named, and not removed as damaged. */
TEST_WITH(a_pack_that_wants_more_is_named, make_folder, remove_folder)
{
	const struct jw_store_options options = {.state_dir = folder};
	struct jw_store *store;
	struct buf bytes = {0};

	OK(os_read_file(why, JITWARM_SOURCE_DIR "/tests/data/features/pack-1-thin.jwpack", 1 << 20,
					&bytes));
	files_put(folder, "store/thin.jwpack", bytes.data, bytes.size);
	buf_free(&bytes);
	OK(jw_store_open(why, &options, &store));
	assert_int_equal(store->count, 1);
	assert_non_null(strstr(store->packs->damage, "the pack needs “thin”"));
	assert_false(store->packs->broken);
	jw_result_free(store);
}

static bool wants_all(void *context, uint64_t key, const struct jw_identity *identity)
{
	(void)context;
	(void)key;
	(void)identity;
	return true;
}

static size_t count_files(const char *place)
{
	struct os_names names;
	size_t count;

	OK(os_list(why, place, &names));
	count = names.count;
	os_names_free(&names);
	return count;
}

/* Machines of a cluster write the same pack by different keys: nobody replaces a signature that
 * others trust. */
TEST_WITH(a_pack_has_its_signer_in_its_name, make_folder, remove_folder)
{
	static const char *const signers[] = {"one", "other"};
	char *shared = keep(os_join(folder, "shared"));
	struct jw_system system;
	struct store_addition addition = {
		.system = &system, .folder = shared, .state_dir = folder, .wanted = wants_all};

	system = packs_machine(folder);
	(void)put_entry(&system, 0);
	OK(os_make_dirs(why, shared, 0700));
	for (size_t i = 0; i < 2; i++) {
		struct jw_key key;

		OK(jw_key_generate(why, folder, signers[i], &key));
		addition.sign_key = signers[i];
		for (int again = 0; again < 2; again++) {
			size_t entries = 0;

			OK(store_add(why, &addition, &entries));
			assert_int_equal(entries, 1);
			assert_int_equal(count_files(shared), 2 * (i + 1)); /* a pack and its signature */
		}
	}
}

RUN_TESTS(NULL, NULL)
