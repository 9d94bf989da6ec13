/* Entries are also carried over from the store, each counted once, and an early end or a failure is
 * reported. */
#include "carrying.h"

#include <jitwarm/store.h>

#include "files.h"

static void remove_index(const struct machine *machine)
{
	OK(os_remove(why, keep(os_join(machine->system.cache.path, "index"))));
}

/* Moves entries `first` to `last` - 1 of driver 555 from the cache to the store. */
static void keep_in_store(const struct machine *machine, size_t first, size_t last)
{
	struct jw_system former = machine->system;

	for (size_t i = 0; i < ENTRIES; i++)
		if (i < first || i >= last)
			remove_entry(machine, machine->entries[i].key);
	TEXT_COPY(former.driver.stamp, "Jun 25 202401:14:48");
	former.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	packs_keep(&former, last - first);
	OK(os_remove_tree(why, machine->system.cache.path));
	for (size_t i = 0; i < ENTRIES; i++)
		if (i < first || i >= last)
			packs_put(machine->system.cache.path, machine->entries[i].key,
					  machine->entries[i].bytes, machine->entries[i].size);
}

static void remove_store(void)
{
	OK(os_remove_tree(why, keep(os_join(folder, "store"))));
}

/* A dry run notes nothing; entries from the store are counted once. */
static void the_store_has_what_the_cache_has_lost(void **state)
{
	struct machine *machine = *state;
	uint64_t bytes = 0;

	keep_in_store(machine, 0, ENTRIES);
	for (int how = 0; how < 2; how++) {
		machine->options.store = how > 0;
		machine->options.dry_run = how == 1;
		carry(machine);
		assert_int_equal(
			machine->result->carried + machine->result->group_count + machine->result->bytes, 0);
	}
	machine->options.dry_run = false;
	carry(machine);
	for (size_t i = 0; i < ENTRIES; i++)
		bytes += machine->entries[i].row_bytes;
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(machine->result->bytes, bytes);
	assert_int_equal(machine->result->group_count, 1);
	assert_true(machine->result->groups[0].in_store);
	assert_int_equal(machine->result->groups[0].modules, ENTRIES);
	assert_string_equal(machine->result->groups[0].driver, "555.58.02 (CUDA 12.5)");
	assert_string_equal(machine->result->groups[0].target, "sm_86");
	assert_int_equal(count_there(machine), ENTRIES);
	carry(machine);
	assert_int_equal(machine->result->carried + machine->result->group_count, 0);
	assert_int_equal(machine->result->bytes, 0);
	remove_store();
}

/* Entries of another compiler stay in the store. */
static void the_store_keeps_what_another_compiler_made(void **state)
{
	struct machine *machine = *state;

	keep_in_store(machine, 0, ENTRIES);
	machine->options.store = true;
	carry(machine);
	assert_int_equal(machine->result->carried + machine->result->group_count, 0);
	assert_int_equal(count_there(machine), 0);
	remove_store();
}

/* Each of the two has its part, and its own line. */
static void the_cache_and_the_store_complete_each_other(void **state)
{
	struct machine *machine = *state;

	keep_in_store(machine, 2, ENTRIES);
	machine->options.store = true;
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(machine->result->group_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(machine->result->groups[i].modules,
						 machine->result->groups[i].in_store ? ENTRIES - 2 : 2);
	assert_int_not_equal(machine->result->groups[0].in_store, machine->result->groups[1].in_store);
	assert_int_equal(count_there(machine), ENTRIES);
	remove_store();
}

/* An entry of the cache is damaged, and the store has it: it counts once. */
static void the_store_has_what_is_damaged(void **state)
{
	struct machine *machine = *state;
	struct entries_entry *entry = &machine->entries[0];
	uint8_t damaged[ENTRIES_MAX];

	keep_in_store(machine, 0, ENTRIES);
	memcpy(damaged, entry->bytes, entry->size);
	damaged[entry->size - 1] ^= 1;
	packs_put(machine->system.cache.path, entry->key, damaged, entry->size);
	machine->options.store = true;
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(machine->result->group_count, 1);
	assert_int_equal(machine->result->groups[0].modules, ENTRIES);
	assert_true(machine->result->groups[0].in_store);
	assert_int_equal(count_there(machine), ENTRIES);
	remove_store();
}

/* Entries in the store that this driver itself made are restored, too, and do not count as carried.
 * */
static void this_drivers_own_are_not_carried(void **state)
{
	struct machine *machine = *state;

	carry(machine);
	for (size_t i = 0; i < ENTRIES; i++)
		remove_entry(machine, machine->entries[i].key);
	packs_keep(&machine->system, ENTRIES);
	OK(os_remove_tree(why, machine->system.cache.path));
	machine->options.store = true;
	carry(machine);
	assert_int_equal(machine->result->carried + machine->result->group_count, 0);
	assert_true(machine->result->bytes > 0);
	assert_int_equal(count_there(machine), ENTRIES);
	remove_store();
}

/* A store that cannot be read, and a cache that cannot be written, give a line each. */
static void what_fails_is_a_line(void **state)
{
	struct machine *machine = *state;
	char *store = keep(os_join(folder, "store"));
	char *inside = keep(os_join(machine->system.cache.path, "index/inside"));

	remove_entry(machine, machine->entries[0].key);
	for (int which = 0; which < 2; which++) {
		machine->options.store = which == 0;
		if (which)
			files_put_at(mem_string(inside), "x", 1);
		else
			files_put_text(folder, "store", "x");
		jw_result_free(machine->result);
		OK(jw_carry(why, &machine->options, &machine->result));
		assert_int_equal(machine->result->carried, which ? 0 : ENTRIES - 1);
		assert_true(machine->result->note[0] != 0);
		if (!which) {
			OK(os_remove(why, store));
			for (size_t i = 1; i < ENTRIES; i++)
				remove_entry(machine, machine->keys[i]);
			remove_index(machine);
		}
	}
}

/* Asks to end after so many of the wanted entries exist. */
static size_t end_after;

static bool ends(void *context)
{
	return count_there(context) >= end_after;
}

/* Entries carried before the end stay; no other entry is begun. */
static void an_end_is_no_failure(void **state)
{
	struct machine *machine = *state;

	keep_in_store(machine, 2, ENTRIES);
	machine->options.store = true;
	machine->options.cancel = (struct jw_cancel){.context = machine, .is_cancelled = ends};
	for (end_after = 0; end_after <= 2; end_after += 2) {
		carry(machine);
		assert_int_equal(machine->result->carried, end_after);
		assert_int_equal(count_there(machine), end_after);
	}
	remove_store();
}

static size_t asks, most_asks;

static bool asked_too_often(void *context)
{
	(void)context;
	return ++asks > most_asks;
}

/* It is asked for each wanted entry, for each one that the budget keeps, and in the store. */
static void an_end_is_asked_for_everywhere(void **state)
{
	struct machine *machine = *state;
	uint64_t kept[ENTRIES * 2] = {0};
	size_t before;

	keep_in_store(machine, 0, ENTRIES);
	machine->options.cancel = (struct jw_cancel){.is_cancelled = asked_too_often};
	most_asks = SIZE_MAX;
	carry(machine);
	assert_true(asks >= ENTRIES);
	machine->options.most_bytes = UINT64_C(1) << 30;
	machine->options.kept = kept;
	machine->options.kept_count = ENTRIES * 2;
	before = asks;
	asks = 0;
	carry(machine);
	assert_true(asks >= before + ENTRIES * 2);
	most_asks = before;
	machine->options.most_bytes = 0;
	machine->options.store = true;
	asks = 0;
	carry(machine);
	assert_true(asks > most_asks);
	assert_int_equal(machine->result->carried, 0);
	assert_int_equal(count_there(machine), 0);
	remove_store();
}

static size_t told, told_done, told_all;

static void tell(void *context, size_t done, size_t all)
{
	(void)context;
	told++;
	assert_true(done >= told_done && done <= all);
	told_done = done;
	told_all = all;
}

static void progress_ends_with_all(void **state)
{
	struct machine *machine = *state;

	told = told_done = 0;
	machine->options.progress = tell;
	carry(machine);
	assert_true(told > 0);
	assert_int_equal(told_done, ENTRIES);
	assert_int_equal(told_all, ENTRIES);
}

TEST_PROGRAM
{
	const struct CMUnitTest tests[] = {
		ON(the_store_has_what_the_cache_has_lost, 12050),
		ON(the_store_keeps_what_another_compiler_made, 12060),
		ON(the_cache_and_the_store_complete_each_other, 12050),
		ON(the_store_has_what_is_damaged, 12050),
		ON(this_drivers_own_are_not_carried, 12050),
		ON(what_fails_is_a_line, 12050),
		ON(an_end_is_no_failure, 12050),
		ON(an_end_is_asked_for_everywhere, 12050),
		ON(progress_ends_with_all, 12050),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
