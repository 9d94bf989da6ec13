/* Entries that were compiled over several threads: packs mark them, and so does a machine that has
 * imported them. */
#include "folder.h"

#include <jitwarm/store.h>

#include "base/text.h"
#include "cache/presence.h"
#include "entries.h"
#include "history/ledger.h"
#include "os/platform.h"
#include "packs.h"

enum { ENTRIES = 3, SPLIT = 1 /* which of them */ };

static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};
static struct jw_system here, there; /* with the same driver, and separate accounts */
static char *pack;

static void make_system(struct jw_system *system, const char *name)
{
	*system = (struct jw_system){.gpus = &gpu, .gpu_count = 1};
	system->state_dir = mem_printf(NULL, "%s/%s-state", folder, name);
	system->cache.path = mem_printf(NULL, "%s/%s-cache", folder, name);
	system->cache.limit_bytes = UINT64_C(1) << 30;
	TEXT_COPY(system->driver.stamp, "Jun 25 202401:14:48");
	system->driver.version = (struct jw_driver){12050, {555, 58, 2}};
	system->driver.trust = JW_TRUST_CONFIRMED;
}

static uint64_t put(const struct jw_system *system, unsigned n, size_t padding)
{
	struct entries_entry entry;

	entries_make(&entry, n, padding);
	packs_put(system->cache.path, entry.key, entry.bytes, entry.size);
	return entry.key;
}

static uint64_t key_of(unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, 0);
	return entry.key;
}

static void mark(const struct jw_system *system, unsigned n, size_t padding)
{
	struct entries_entry entry;
	struct ledger_new_mark one = {.kind = LEDGER_SPLIT};
	const struct ledger_change change = {.marks = &one, .mark_count = 1};

	entries_make(&entry, n, padding);
	one.key = entry.key;
	one.checksum = load_u64(entry.bytes + 20);
	assert_int_equal(ledger_change_marks(NULL, system->state_dir, system->cache.path, &change), 0);
}

static bool is_marked(const struct jw_system *system, unsigned n)
{
	struct ledger ledger;
	bool marked;

	ledger_open(&ledger, system->state_dir, system->cache.path);
	marked = ledger_marked(&ledger, LEDGER_SPLIT, system->cache.path, key_of(n)) != NULL;
	ledger_close(&ledger);
	return marked;
}

static size_t count_marked(const struct jw_system *system)
{
	size_t count = 0;

	for (unsigned n = 0; n < ENTRIES; n++)
		count += is_marked(system, n);
	return count;
}

static int begin(void **state)
{
	(void)state;
	make_system(&here, "here");
	make_system(&there, "there");
	pack = os_join(NULL, folder, "a.jwpack");
	for (unsigned n = 0; n < ENTRIES; n++)
		(void)put(&here, n, 10);
	mark(&here, SPLIT, 10);
	return 0;
}

static void forget(struct jw_system *system)
{
	assert_int_equal(os_remove_tree(NULL, system->state_dir), 0);
	assert_int_equal(os_remove_tree(NULL, system->cache.path), 0);
	mem_free(system->state_dir);
	mem_free(system->cache.path);
}

static int end(void **state)
{
	(void)state;
	forget(&here);
	forget(&there);
	mem_free(pack);
	return 0;
}

static struct jw_export_result export(const struct jw_system *system)
{
	const struct jw_export_options options = {
		.size = sizeof options, .system = system, .output = pack};
	struct jw_export_result result = {.size = sizeof result};
	struct jw_error err = {0};

	if (jw_export(&err, &options, &result))
		fail_msg("%s", err.message);
	return result;
}

static void import(const struct jw_import_options *how, size_t accepted, size_t existing,
				   size_t split)
{
	struct jw_import_result *result;
	struct jw_error err = {0};
	size_t found = 0;

	if (jw_import(&err, how, &result))
		fail_msg("%s", err.message);
	assert_int_equal(result->accepted, accepted);
	assert_int_equal(result->there, existing);
	for (size_t i = 0; i < result->group_count; i++)
		found += result->groups[i].split ? result->groups[i].entries : 0;
	assert_int_equal(found, split);
	assert_string_equal(result->unmarked, "");
	jw_import_result_free(result);
}

static struct jw_import_options taking(const struct jw_system *system)
{
	return (struct jw_import_options){.size = sizeof(struct jw_import_options),
									  .path = pack,
									  .system = system,
									  .allow_unsigned = true};
}

static void it_travels(void **state)
{
	struct jw_import_options how = taking(&there);
	struct jw_export_result result = export(&here);
	char first[sizeof result.blake2b_512];

	(void)state;
	assert_int_equal(result.entries, ENTRIES);
	assert_int_equal(result.split, 1);
	TEXT_COPY(first, result.blake2b_512);
	how.dry_run = true;
	import(&how, ENTRIES, 0, 1);
	assert_int_equal(count_marked(&there), 0);
	how.dry_run = false;
	import(&how, ENTRIES, 0, 1);
	assert_true(is_marked(&there, SPLIT));
	assert_int_equal(count_marked(&there), 1);
	import(&how, 0, ENTRIES, 1);
	assert_int_equal(count_marked(&there), 1);
	/* From there on, the same bytes. */
	result = export(&there);
	assert_string_equal(result.blake2b_512, first);
	/* Compiled again, it is the driver's own. */
	(void)put(&there, SPLIT, 11);
	assert_int_equal(export(&there).split, 0);
}

/* A directory for another machine, whose driver is not installed here. */
static void it_travels_as_it_is(void **state)
{
	struct jw_import_options how = taking(NULL);

	(void)state;
	(void)export(&here);
	how.cache_dir = there.cache.path;
	how.state_dir = there.state_dir;
	import(&how, ENTRIES, 0, 1);
	assert_true(is_marked(&there, SPLIT));
	assert_int_equal(count_marked(&there), 1);
}

static void the_drivers_own_stays(void **state)
{
	const struct jw_import_options how = taking(&there);
	struct cache_probed probed;

	(void)state;
	(void)export(&here);
	(void)put(&there, SPLIT, 12);
	import(&how, ENTRIES - 1, 1, 1);
	assert_int_equal(count_marked(&there), 0);
	assert_int_equal(cache_presence(there.cache.path, key_of(SPLIT), 0, &probed), CACHE_PRESENT);
	assert_int_equal(probed.value_bytes, ENTRIES_CUBIN + 12);
	/* And replaces the split entry. */
	forget(&there);
	make_system(&there, "there");
	import(&how, ENTRIES, 0, 1);
	assert_int_equal(count_marked(&there), 1);
	(void)put(&here, SPLIT, 13);
	(void)export(&here);
	import(&how, 1, ENTRIES - 1, 0);
	assert_int_equal(count_marked(&there), 0);
}

/* The driver may have compiled it by itself. */
static void what_is_there_is_not_marked(void **state)
{
	const struct jw_import_options how = taking(&there);

	(void)state;
	(void)export(&here);
	(void)put(&there, SPLIT, 10);
	import(&how, ENTRIES - 1, 1, 1);
	assert_int_equal(count_marked(&there), 0);
}

static size_t refill(const uint64_t *keys, size_t count)
{
	struct jw_store_refilled refilled = {0};

	assert_int_equal(jw_store_refill(NULL,
									 &(struct jw_store_refill_options){
										 .size = sizeof(struct jw_store_refill_options),
										 .system = &here,
										 .keys = keys,
										 .count = count},
									 &refilled),
					 0);
	return refilled.entries;
}

/* Also when packs of it are merged. */
static void the_store_keeps_the_mark(void **state)
{
	const uint64_t keys[] = {key_of(0), key_of(1), key_of(2), key_of(3)};
	struct jw_store_swept swept = {0};
	struct jw_store *store;

	(void)state;
	packs_keep(&here, ENTRIES);
	(void)put(&here, ENTRIES, 10);
	packs_keep(&here, 1);
	for (unsigned round = 0; round < 2; round++) {
		char *ledger = ledger_file(NULL, here.state_dir, here.cache.path);

		assert_int_equal(
			jw_store_open(NULL,
						  &(struct jw_store_options){.size = sizeof(struct jw_store_options),
													 .state_dir = here.state_dir,
													 .verify = true},
						  &store),
			0);
		assert_int_equal(store->count, 2 - round);
		assert_int_equal(store->packs[0].split, 1);
		jw_store_free(store);
		assert_int_equal(os_remove_tree(NULL, here.cache.path), 0);
		assert_int_equal(os_remove(NULL, ledger), 0);
		mem_free(ledger);
		assert_int_equal(refill(keys, 4), 4);
		assert_true(is_marked(&here, SPLIT));
		assert_int_equal(count_marked(&here), 1);
		assert_int_equal(jw_store_gc(NULL, here.state_dir, JW_STORE_DEFAULT_BYTES, &swept), 0);
	}
}

/* A pack of version 1 with such an entry, which every later jitwarm has to read. */
static void kept_one(void **state)
{
	struct jw_import_options how = taking(&there);

	(void)state;
	if (strcmp(os_name, "linux") != 0)
		skip(); /* it is for Linux */
	how.path = JITWARM_SOURCE_DIR "/tests/data/features/pack-1-split.jwpack";
	import(&how, ENTRIES, 0, 1);
	assert_true(is_marked(&there, SPLIT));
}

/* The mark in a manifest, in each spelling. */
static void words(void **state)
{
	static const struct {
		const char *text;
		bool split;
	} cases[] = {{"", false},
				 {",\"split\":true", true},
				 {",\"split\":false", false},
				 {",\"split\":4", true}};
	struct packs_parts parts;
	char *entry;

	(void)state;
	packs_parts_make(&parts);
	entry = packs_entry_text(&parts, "sm_86", "load", 0, 1);
	entry[strlen(entry) - 1] = '\0';
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = mem_printf(
			NULL,
			"{\"format\":\"jitwarm.pack/1\",\"requires\":[],\"os\":\"linux\",\"pointer_bits\":64,"
			"\"drivers\":[{\"stamp\":\"Jun 25 202401:14:48\"}],\"members\":[{\"name\":\"%s\","
			"\"bytes\":8},{\"name\":\"%s\",\"bytes\":64}],\"entries\":[%s%s}]}",
			parts.ptx_name, parts.cubin_name, entry, cases[i].text);
		struct pack_manifest manifest;
		struct jw_error err = {0};

		if (manifest_parse(&err, text, strlen(text), &manifest))
			fail_msg("%s", err.message);
		assert_int_equal(manifest.entries[0].split, cases[i].split);
		assert_int_equal(manifest_split(&manifest), cases[i].split);
		manifest_free(&manifest);
		mem_free(text);
	}
	mem_free(entry);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(it_travels),
		CASE(it_travels_as_it_is),
		CASE(the_drivers_own_stays),
		CASE(what_is_there_is_not_marked),
		CASE(the_store_keeps_the_mark),
		CASE(kept_one),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
