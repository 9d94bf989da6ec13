/* The store and carrying over keep to their bounds to the byte, and a bad pack never blocks the
 * others. */
#include "folder.h"

#include <jitwarm/carry.h>
#include <jitwarm/store.h>

#include "cache/entry.h"
#include "open_files.h"
#include "os/platform.h"
#include "pack/ledger.h"
#include "pack/refill.h"
#include "pack/store_packs.h"
#include "packs.h"

enum { ENTRIES = 4 };

static struct jw_system system_of;
static struct entries_entry entries[ENTRIES];
static uint64_t keys[ENTRIES], key_bytes[ENTRIES];
static struct jw_identity identities[ENTRIES];
static char *store;

static int begin(void **state)
{
	if (make_folder(state))
		return -1;
	system_of = packs_machine(folder);
	store = keep(os_join(folder, "store"));
	for (unsigned n = 0; n < ENTRIES; n++) {
		entries_make(&entries[n], n, 100);
		keys[n] = entries[n].key;
		key_bytes[n] = entries[n].key_bytes;
		identities[n] = entries[n].identity;
	}
	return 0;
}

static int end(void **state)
{
	return remove_folder(state);
}

static void put_entries(size_t from, size_t to)
{
	for (size_t n = from; n < to; n++)
		packs_put(system_of.cache.path, keys[n], entries[n].bytes, entries[n].size);
}

/* Sets the file's times to so many seconds ago. */
static void age(const char *path, int64_t seconds)
{
	check_set_mtime(path, (INT64_C(1700000000) - seconds) * 1000000000);
}

static void empty_cache(void)
{
	if (os_exists(system_of.cache.path))
		OK(os_remove_tree(why, system_of.cache.path));
}

static struct jw_store_refilled refill(bool dry_run)
{
	const struct jw_store_refill_options options = {
		.system = &system_of, .keys = keys, .count = ENTRIES, .dry_run = dry_run};
	struct jw_store_refilled refilled;

	OK(jw_store_refill(why, &options, &refilled));
	return refilled;
}

static size_t packs_in(const char *state_dir)
{
	struct jw_store *opened;
	size_t count;

	OK(jw_store_open(why, &(struct jw_store_options){.state_dir = state_dir}, &opened));
	count = opened->count;
	jw_result_free(opened);
	return count;
}

/* Each of these alone prevents keeping, restoring and carrying over. */
TEST_WITH(without_a_driver_or_a_cache_nothing_happens, begin, end)
{
	char *path = system_of.cache.path;

	put_entries(0, ENTRIES);
	packs_keep(&system_of, ENTRIES);
	for (int lack = 0; lack < 5; lack++) {
		const struct jw_system whole = system_of;
		struct jw_carry_options options = {.system = &system_of,
										   .keys = keys,
										   .key_bytes = key_bytes,
										   .identities = identities,
										   .count = ENTRIES};
		struct jw_carry_result *result;

		empty_cache();
		switch (lack) {
		case 0: system_of.cache.path = NULL; break;
		case 1: system_of.driver.stamp[0] = '\0'; break;
		case 2: system_of.driver.trust = JW_TRUST_OPAQUE; break;
		case 3: system_of.cache.limit_bytes = 0; break;
		default: options.count = 0;
		}
		if (lack < 3) {
			packs_keep(&system_of, 0);
			assert_int_equal(refill(true).entries, 0);
			assert_int_equal(refill(false).entries, 0);
		}
		options.store = true;
		OK(jw_carry(why, &options, &result));
		assert_int_equal(result->carried + result->group_count, 0);
		assert_string_equal(result->note, "");
		jw_result_free(result);
		assert_false(os_exists(path));
		system_of = whole;
	}
	assert_int_equal(refill(false).entries, ENTRIES);
}

TEST_WITH(room_counts_to_the_byte, begin, end)
{
	uint64_t all = 0;

	put_entries(0, ENTRIES);
	packs_keep(&system_of, ENTRIES);
	for (size_t n = 0; n < ENTRIES; n++)
		all += entries[n].row_bytes;
	for (int less = 0; less < 2; less++) {
		struct jw_store_refilled would, did;

		empty_cache();
		system_of.cache.limit_bytes = all - (uint64_t)less;
		would = refill(true);
		did = refill(false);
		assert_int_equal(would.entries, ENTRIES - less);
		assert_int_equal(did.entries, ENTRIES - less);
		assert_int_equal(would.bytes, all - (less ? entries[0].row_bytes : 0));
		assert_int_equal(would.note_count, less);
		assert_int_equal(did.note_count, less);
		if (less)
			assert_non_null(strstr(would.notes[0], "1 entry left out"));
	}
}

/* A file with another name, of another kind, or with too long a name is not a pack. */
TEST_WITH(a_pack_is_a_file_of_its_name, begin, end)
{
	static const char *const others[] = {"a.jwpac", "new", "a.jwpack.part", "lock"};
	char name[120];
	char *path;

	assert_int_equal(packs_in(folder), 0);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		files_put_text(store, others[i], "x");
	path = keep(os_join(store, "folder.jwpack"));
	OK(os_make_dirs(why, path, 0700));
	assert_int_equal(packs_in(folder), 0);
	for (size_t size = 94; size < 98; size++) {
		(void)snprintf(name, sizeof name, "%0*d.jwpack", (int)(size - strlen(".jwpack")), 0);
		files_put_text(store, name, "x");
		assert_int_equal(packs_in(folder), size < 96 ? size - 93 : 2);
	}
}

TEST_WITH(without_a_state_there_is_no_store, begin, end)
{
	const struct jw_store_options options = {0};
	struct jw_store *opened = NULL;

	GIVES(JW_ERR_NOT_FOUND, jw_store_open(why, &options, &opened));
	assert_null(opened);
}

/* At most 256 packs stay, however small they are, and the oldest goes. */
TEST_WITH(many_small_packs_stay_few, begin, end)
{
	const struct jw_store_options options = {.state_dir = folder};
	struct jw_store *opened;
	struct buf bytes = {0};
	char name[64], *path;

	if (os_exists(store))
		OK(os_remove_tree(why, store));
	empty_cache();
	put_entries(0, 1);
	packs_keep(&system_of, 1);
	OK(jw_store_open(why, &options, &opened));
	path = keep(os_join(store, opened->packs[0].name));
	jw_result_free(opened);
	OK(os_read_file(why, path, 1 << 20, &bytes));
	age(path, 0);
	for (int64_t n = 1; n <= 257; n++) {
		(void)snprintf(name, sizeof name, "sm_86-%016x.jwpack", (unsigned)n);
		files_put(store, name, bytes.data, bytes.size);
		path = keep(os_join(store, name));
		age(path, n == 200 ? 300 : 257 - n + 1);
	}
	buf_free(&bytes);
	packs_keep(&system_of, 0);
	path = keep(os_join(store, "sm_86-00000000000000c8.jwpack"));
	assert_false(os_exists(path));
	assert_int_equal(packs_in(folder), 256);
}

/* The store keeps each entry once, whatever its maximum; the limit of the store itself holds
 * afterwards. */
TEST_WITH(what_is_known_is_not_kept_again, begin, end)
{
	const struct jw_store_keep_options options = {.system = &system_of, .most_bytes = 1};
	size_t count = 0;

	put_entries(0, 2);
	packs_keep(&system_of, 2);
	packs_keep(&system_of, 0);
	put_entries(2, ENTRIES);
	packs_keep(&system_of, ENTRIES - 2);
	assert_int_equal(packs_in(folder), 2);
	OK(jw_store_keep(why, &options, &count));
	assert_int_equal(count, 0);
	assert_int_equal(packs_in(folder), 0);
}

static bool at_once(void *context)
{
	(void)context;
	return true;
}

/* An entry that is in two packs is restored once; searching for it does not make a store. */
TEST_WITH(an_entry_in_two_packs_counts_once, begin, end)
{
	struct jw_store *opened;
	const struct jw_store_options options = {.state_dir = folder};
	struct buf bytes = {0};
	char *path;

	assert_int_equal(refill(true).entries, 0);
	assert_int_equal(refill(false).entries, 0);
	assert_false(os_exists(store));
	put_entries(0, ENTRIES);
	packs_keep(&system_of, ENTRIES);
	OK(jw_store_open(why, &options, &opened));
	path = keep(os_join(store, opened->packs[0].name));
	OK(os_read_file(why, path, 1 << 20, &bytes));
	files_put(store, "again.jwpack", bytes.data, bytes.size);
	jw_result_free(opened);
	empty_cache();
	assert_int_equal(refill(true).entries, ENTRIES);
	assert_int_equal(refill(true).note_count, 0);
	assert_int_equal(refill(false).entries, ENTRIES);
	/* Half of one pack is broken, and still the others are listed. */
	files_put(store, "again.jwpack", bytes.data, bytes.size / 2);
	OK(jw_store_open(why, &options, &opened));
	assert_int_equal(opened->count, 2);
	for (size_t i = 0; i < 2; i++) {
		const bool broken = !strcmp(opened->packs[i].name, "again.jwpack");

		assert_int_equal(opened->packs[i].broken, broken);
		assert_int_equal(opened->packs[i].damage[0] != 0, broken);
		assert_int_equal(opened->packs[i].entries, broken ? 0 : ENTRIES);
	}
	jw_result_free(opened);
	buf_free(&bytes);
}

/* Writes a pack whose manifest names a requested entry with a different content. */
static void put_false_pack(void)
{
	struct packs_parts parts;
	struct packs_member members[2];
	char *manifest, *entry;
	struct buf bytes;

	packs_parts_make(&parts);
	entry = keep(packs_entry_text(&parts, "sm_86", "load", 0, 1));
	manifest = keep(mem_printf(
		"{\"format\":\"jitwarm.pack/1\",\"requires\":[],\"os\":\"%s\",\"pointer_bits\":64,"
		"\"drivers\":[{\"stamp\":\"Jun 25 202401:14:48\"}],\"members\":[{\"name\":\"%s\","
		"\"bytes\":8},{\"name\":\"%s\",\"bytes\":64}],\"entries\":[%s]}",
		os_name, parts.ptx_name, parts.cubin_name, entry));
	members[0] = (struct packs_member){parts.ptx_name, "// other", 8};
	members[1] = (struct packs_member){parts.cubin_name, parts.cubin, ENTRIES_CUBIN};
	packs_make(&bytes, manifest, members, 2);
	files_put(store, "sm_86-false.jwpack", bytes.data, bytes.size);
	buf_free(&bytes);
}

/* A pack with a false statement is noted, and the others are used; a cancel is an error. */
TEST_WITH(one_pack_does_not_keep_the_others_back, begin, end)
{
	struct jw_store_refill_options options = {
		.system = &system_of, .keys = keys, .count = ENTRIES, .cancel.is_cancelled = at_once};
	struct jw_store_refilled refilled = {.entries = 7};

	put_entries(0, ENTRIES);
	packs_keep(&system_of, ENTRIES);
	empty_cache();
	put_false_pack();
	GIVES(JW_ERR_INTERRUPTED, jw_store_refill(why, &options, &refilled));
	assert_int_equal(refilled.entries, 0);
	refilled = refill(false);
	assert_int_equal(refilled.entries, ENTRIES);
	assert_int_equal(refilled.note_count, 1);
	assert_non_null(strstr(refilled.notes[0], "sm_86-false.jwpack"));
}

/* Entries of another driver are not noted either, since this driver has not lost them. */
TEST_WITH(what_was_not_asked_for_is_not_noted, begin, end)
{
	struct entries_entry other = entries[0];
	struct jw_store_refilled refilled;
	char *path = keep(os_join(store, "sm_86-all.jwpack"));

	memcpy(other.bytes + CACHE_ENTRY_HEADER, "Mar  5 202422:02:27", CACHE_STAMP_SIZE);
	other.key = fnv_update(FNV_START, other.bytes + CACHE_ENTRY_HEADER, (size_t)other.key_bytes);
	put_entries(0, ENTRIES);
	packs_put(system_of.cache.path, other.key, other.bytes, other.size);
	OK(os_make_dirs(why, store, 0700));
	(void)packs_export(system_of.cache.path, path);
	for (int dry = 1; dry >= 0; dry--) {
		empty_cache();
		refilled = refill(dry);
		assert_int_equal(refilled.entries, ENTRIES);
		assert_int_equal(refilled.note_count, 0);
	}
	assert_int_not_equal(cache_presence(system_of.cache.path, other.key, 0, NULL), CACHE_PRESENT);
}

static void damage_the_older(void *context, const struct jw_import_result *result)
{
	size_t *taken = context;

	assert_int_equal(result->added, 2);
	++*taken;
	files_put_text(store, "sm_86-older.jwpack", "no pack");
}

/* A pack that was damaged after it was listed is passed over; a list of packs names it. */
TEST_WITH(a_pack_that_is_damaged_meanwhile_is_none, begin, end)
{
	size_t taken = 0;
	const struct refill_request request = {.system = &system_of,
										   .keys = keys,
										   .count = ENTRIES,
										   .context = &taken,
										   .took = damage_the_older};
	struct jw_store_refilled refilled;
	char *older = keep(os_join(store, "sm_86-older.jwpack"));
	char *newer = keep(os_join(store, "sm_86-newer.jwpack"));

	OK(os_make_dirs(why, store, 0700));
	for (size_t n = 0; n < 2; n++) {
		put_entries(2 * n, 2 * n + 2);
		(void)packs_export(system_of.cache.path, n ? newer : older);
		empty_cache();
		age(n ? newer : older, -(int64_t)n);
	}
	OK(refill_from_packs(why, &request, &refilled));
	assert_int_equal(taken, 1);
	assert_int_equal(refilled.entries, 2);
	assert_int_equal(refilled.note_count, 0);
}

TEST_WITH(the_stores_lock_is_let_go_of, begin, end)
{
	size_t before;

	put_entries(0, ENTRIES);
	packs_keep(&system_of, ENTRIES);
	before = open_files();
	assert_int_equal(refill(false).entries, 0);
	assert_int_equal(open_files(), before);
}

RUN_TESTS(NULL, NULL)
