/* What former drivers have compiled goes over to another one: which entries, under which names,
 * with which marks. */
#include "folder.h"

#include <jitwarm/carry.h>
#include <jitwarm/store.h>

#include "base/text.h"
#include "cache/presence.h"
#include "entries.h"
#include "history/ledger.h"
#include "packs.h"

/* entries_make's entries are driver 555.58.02's (CUDA 12.5). */
static const char stamp_now[] = "Nov 11 202511:11:11";

enum { ENTRIES = 5 };

static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};

/* A machine whose driver has this CUDA version, with ENTRIES entries of driver 555 in its cache. */
struct machine {
	struct jw_system system;
	struct entries_entry entries[ENTRIES];
	uint64_t keys[ENTRIES], key_bytes[ENTRIES]; /* as its own driver calls them */
};

static uint64_t key_under(const struct entries_entry *entry, const char *stamp)
{
	const uint64_t state = fnv_update(FNV_START, stamp, CACHE_STAMP_SIZE);

	return fnv_update(state, entry->bytes + CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE,
					  (size_t)entry->key_bytes - CACHE_STAMP_SIZE);
}

static void set_up(struct machine *machine, uint32_t cuda)
{
	*machine = (struct machine){.system = {.gpus = &gpu, .gpu_count = 1, .state_dir = folder}};
	machine->system.cache.path = os_join(NULL, folder, "cache");
	machine->system.cache.limit_bytes = UINT64_C(1) << 30;
	TEXT_COPY(machine->system.driver.stamp, stamp_now);
	machine->system.driver.version = (struct jw_driver){cuda, {570, 1, 2}};
	machine->system.driver.trust = JW_TRUST_CONFIRMED;
	for (unsigned i = 0; i < ENTRIES; i++) {
		struct entries_entry *entry = &machine->entries[i];

		entries_make(entry, i, 100 + i);
		packs_put(machine->system.cache.path, entry->key, entry->bytes, entry->size);
		machine->keys[i] = key_under(entry, stamp_now);
		machine->key_bytes[i] = entry->key_bytes;
	}
}

static void tear_down(struct machine *machine)
{
	char *ledger = ledger_file(folder, machine->system.cache.path);

	if (os_exists(machine->system.cache.path))
		assert_int_equal(os_remove_tree(NULL, machine->system.cache.path), 0);
	if (os_exists(ledger))
		assert_int_equal(os_remove(NULL, ledger), 0);
	mem_free(ledger);
	mem_free(machine->system.cache.path);
}

static struct jw_carry_options asking(const struct machine *machine, bool carry_over)
{
	return (struct jw_carry_options){.size = sizeof(struct jw_carry_options),
									 .system = &machine->system,
									 .keys = machine->keys,
									 .key_bytes = machine->key_bytes,
									 .count = ENTRIES,
									 .carry_over = carry_over};
}

static struct jw_carry_result *carry(const struct jw_carry_options *options)
{
	struct jw_carry_result *result;
	struct jw_error err = {0};

	if (jw_carry(&err, options, &result))
		fail_msg("%s", err.message);
	assert_string_equal(result->note, "");
	return result;
}

/* How many of the wanted entries are there, each whole and with the bytes of the former one. */
static size_t count_there(const struct machine *machine)
{
	size_t count = 0;

	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entries_entry *from = &machine->entries[i];
		char *path = cache_entry_path(NULL, machine->system.cache.path, machine->keys[i]);
		struct cache_entry entry;
		struct buf file = {0};

		if (!os_read_file(NULL, path, ENTRIES_MOST, &file)) {
			assert_int_equal(cache_entry_verify(file.data, file.size, machine->keys[i], &entry),
							 CACHE_SOUND);
			assert_int_equal(file.size, from->size);
			assert_memory_equal(entry.key, stamp_now, CACHE_STAMP_SIZE);
			assert_memory_equal(entry.value, from->bytes + from->size - entry.value_bytes,
								entry.value_bytes);
			count++;
		}
		buf_free(&file);
		mem_free(path);
	}
	return count;
}

static void the_same_compilers_go_over_unmarked(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;

	(void)state;
	set_up(&machine, 12050);
	options = asking(&machine, false);
	options.dry_run = true;
	result = carry(&options);
	assert_int_equal(result->carried, ENTRIES);
	jw_carry_result_free(result);
	assert_int_equal(count_there(&machine), 0);
	options.dry_run = false;
	result = carry(&options);
	assert_int_equal(result->carried, ENTRIES);
	assert_int_equal(result->older, 0);
	assert_int_equal(result->group_count, 1);
	assert_int_equal(result->groups[0].modules, ENTRIES);
	assert_string_equal(result->groups[0].driver, "555.58.02 (CUDA 12.5)");
	jw_carry_result_free(result);
	assert_int_equal(count_there(&machine), ENTRIES);
	assert_int_equal(jw_carry_count(&machine.system), 0);
	/* What is there already is nobody's business. */
	result = carry(&options);
	assert_int_equal(result->carried + result->refused + result->group_count, 0);
	jw_carry_result_free(result);
	tear_down(&machine);
}

static void older_ones_go_over_where_asked_for_and_are_marked(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;
	struct ledger ledger;

	(void)state;
	set_up(&machine, 12060);
	options = asking(&machine, false);
	result = carry(&options);
	assert_int_equal(result->carried, 0);
	assert_int_equal(result->refused, ENTRIES);
	assert_non_null(strstr(result->groups[0].why, "--carry-over takes it"));
	jw_carry_result_free(result);
	options.carry_over = true;
	result = carry(&options);
	assert_int_equal(result->carried, ENTRIES);
	assert_int_equal(result->older, ENTRIES);
	jw_carry_result_free(result);
	assert_int_equal(count_there(&machine), ENTRIES);
	assert_int_equal(jw_carry_count(&machine.system), ENTRIES);
	ledger_open(&ledger, folder, machine.system.cache.path);
	assert_string_equal(
		ledger_mark_stamp(&ledger, ledger_marked(&ledger, LEDGER_OLDER, machine.system.cache.path,
												 machine.keys[0])),
		"Jun 25 202401:14:48");
	ledger_close(&ledger);
	tear_down(&machine);
}

static void newer_ones_stay(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;

	(void)state;
	set_up(&machine, 12040);
	options = asking(&machine, true);
	result = carry(&options);
	assert_int_equal(result->carried, 0);
	assert_int_equal(result->refused, ENTRIES);
	assert_non_null(strstr(result->groups[0].why, "an older driver cannot load"));
	jw_carry_result_free(result);
	assert_int_equal(count_there(&machine), 0);
	tear_down(&machine);
}

/* A value that is not what its header says, a key that is not its name's, a file that is cut. */
static void damaged_ones_stay(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;

	(void)state;
	set_up(&machine, 12050);
	for (size_t i = 0; i < 3; i++) {
		struct entries_entry entry = machine.entries[i];

		if (i == 0)
			entry.bytes[entry.size - 1] ^= 1;
		else if (i == 1)
			entry.bytes[CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE - 1] ^= 1;
		else
			entry.size--;
		packs_put(machine.system.cache.path, entry.key, entry.bytes, entry.size);
	}
	options = asking(&machine, true);
	result = carry(&options);
	assert_int_equal(result->carried, ENTRIES - 3);
	jw_carry_result_free(result);
	assert_int_equal(count_there(&machine), ENTRIES - 3);
	tear_down(&machine);
}

/* Where a budget is given, what fits of it; what is kept counts, too. */
static void a_budget_is_kept_to(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;

	(void)state;
	set_up(&machine, 12050);
	options = asking(&machine, false);
	options.kept = &machine.entries[0].key;
	options.kept_count = 1;
	options.most_bytes =
		machine.entries[0].row_bytes + machine.entries[0].row_bytes + machine.entries[1].row_bytes;
	result = carry(&options);
	assert_int_equal(result->carried, 2);
	jw_carry_result_free(result);
	tear_down(&machine);
}

static void the_store_keeps_no_marked_ones(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	char *store = os_join(NULL, folder, "store");
	size_t kept;

	(void)state;
	set_up(&machine, 12060);
	options = asking(&machine, true);
	options.count = 2;
	jw_carry_result_free(carry(&options));
	assert_int_equal(
		jw_store_keep(NULL,
					  &(struct jw_store_keep_options){.size = sizeof(struct jw_store_keep_options),
													  .system = &machine.system},
					  &kept),
		0);
	assert_int_equal(kept, 0);
	/* Compiled anew: there, and no longer marked. */
	assert_int_equal(
		ledger_change_marks(NULL, folder, machine.system.cache.path,
							&(struct ledger_change){.cleared = {[LEDGER_OLDER] = machine.keys},
													.cleared_count = {[LEDGER_OLDER] = 1}}),
		0);
	assert_int_equal(jw_carry_count(&machine.system), 1);
	assert_int_equal(
		jw_store_keep(NULL,
					  &(struct jw_store_keep_options){.size = sizeof(struct jw_store_keep_options),
													  .system = &machine.system},
					  &kept),
		0);
	assert_int_equal(kept, 1);
	assert_int_equal(os_remove_tree(NULL, store), 0);
	mem_free(store);
	tear_down(&machine);
}

/* The same compiler's, by the key; but an older one's by its mark, from a carry before. And what
 * was split is split under any name. */
static void marks_go_along(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;
	struct ledger_new_mark marks[2] = {{.kind = LEDGER_OLDER, .stamp = "Mar  5 202422:02:27"},
									   {.kind = LEDGER_SPLIT}};
	struct ledger ledger;

	(void)state;
	set_up(&machine, 12050);
	for (unsigned i = 0; i < 2; i++) {
		marks[i].key = machine.entries[i].key;
		marks[i].checksum = load_u64(machine.entries[i].bytes + 20);
	}
	assert_int_equal(ledger_change_marks(NULL, folder, machine.system.cache.path,
										 &(struct ledger_change){.marks = marks, .mark_count = 2}),
					 0);
	options = asking(&machine, false);
	result = carry(&options);
	assert_int_equal(result->carried, ENTRIES - 1);
	assert_int_equal(result->refused, 1);
	jw_carry_result_free(result);
	ledger_open(&ledger, folder, machine.system.cache.path);
	assert_null(ledger_marked(&ledger, LEDGER_OLDER, machine.system.cache.path, machine.keys[0]));
	assert_non_null(
		ledger_marked(&ledger, LEDGER_SPLIT, machine.system.cache.path, machine.keys[1]));
	assert_int_equal(ledger_count_marked(&ledger, LEDGER_SPLIT, machine.system.cache.path), 2);
	ledger_close(&ledger);
	options.carry_over = true;
	result = carry(&options);
	assert_int_equal(result->carried, 1);
	assert_int_equal(result->older, 1);
	jw_carry_result_free(result);
	ledger_open(&ledger, folder, machine.system.cache.path);
	assert_string_equal(
		ledger_mark_stamp(&ledger, ledger_marked(&ledger, LEDGER_OLDER, machine.system.cache.path,
												 machine.keys[0])),
		marks[0].stamp);
	ledger_close(&ledger);
	tear_down(&machine);
}

/* Without a place for marks it is done all the same, and said. */
static void no_state_is_said(void **state)
{
	struct machine machine;
	struct jw_carry_options options;
	struct jw_carry_result *result;

	(void)state;
	set_up(&machine, 12060);
	machine.system.state_dir = NULL;
	options = asking(&machine, true);
	assert_int_equal(jw_carry(NULL, &options, &result), 0);
	assert_int_equal(result->carried, ENTRIES);
	assert_non_null(strstr(result->note, "cannot be noted"));
	jw_carry_result_free(result);
	tear_down(&machine);
}

static void short_memory_is_an_error_or_nothing(void **state)
{
	(void)state;
	for (size_t i = 1; i < 400; i += 1 + i / 4) {
		struct machine machine;
		struct jw_carry_options options;
		struct jw_carry_result *result;
		int failed;

		set_up(&machine, 12060);
		options = asking(&machine, true);
		mem_fail_after(i);
		failed = jw_carry(NULL, &options, &result);
		mem_fail_after(0);
		if (!failed)
			jw_carry_result_free(result);
		(void)count_there(&machine);
		tear_down(&machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_compilers_go_over_unmarked),
		cmocka_unit_test(older_ones_go_over_where_asked_for_and_are_marked),
		cmocka_unit_test(newer_ones_stay),
		cmocka_unit_test(damaged_ones_stay),
		cmocka_unit_test(a_budget_is_kept_to),
		cmocka_unit_test(the_store_keeps_no_marked_ones),
		cmocka_unit_test(marks_go_along),
		cmocka_unit_test(no_state_is_said),
		cmocka_unit_test(short_memory_is_an_error_or_nothing),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
