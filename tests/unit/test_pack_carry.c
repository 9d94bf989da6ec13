/* Exactly the sound entries of the same compiler are carried over to a new driver of one CUDA
 * version, under its names. */
#include "carrying.h"

static const char stamp_550_54[] = "Mar  5 202422:02:27"; /* CUDA 12.4 */

static void entries_of_the_same_compiler_are_carried(void **state)
{
	struct machine *machine = *state;

	machine->options.dry_run = true;
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(count_there(machine), 0);
	machine->options.dry_run = false;
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(machine->result->group_count, 1);
	assert_int_equal(machine->result->groups[0].modules, ENTRIES);
	assert_string_equal(machine->result->groups[0].driver, "555.58.02 (CUDA 12.5)");
	assert_int_equal(count_there(machine), ENTRIES);
	/* Entries that exist already are not counted. */
	carry(machine);
	assert_int_equal(machine->result->carried + machine->result->group_count, 0);
}

static void entries_of_another_compiler_stay(void **state)
{
	struct machine *machine = *state;

	carry(machine);
	assert_int_equal(machine->result->carried + machine->result->group_count, 0);
	assert_int_equal(count_there(machine), 0);
}

/* The entries have a value that does not match the header, a key that does not match the name, or
 * are truncated. */
static void damaged_entries_are_not_carried(void **state)
{
	struct machine *machine = *state;

	for (size_t i = 0; i < 3; i++) {
		struct entries_entry entry = machine->entries[i];

		if (i == 0)
			entry.bytes[entry.size - 1] ^= 1;
		else if (i == 1)
			entry.bytes[CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE - 1] ^= 1;
		else
			entry.size--;
		packs_put(machine->system.cache.path, entry.key, entry.bytes, entry.size);
	}
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES - 3);
	assert_int_equal(count_there(machine), ENTRIES - 3);
}

/* The entry is sound, but a third driver made it, which names it differently. */
static void a_third_drivers_entry_is_not_carried(void **state)
{
	struct machine *machine = *state;
	struct entries_entry entry = machine->entries[0];

	memcpy(entry.bytes + CACHE_ENTRY_HEADER, stamp_550_54, CACHE_STAMP_SIZE);
	packs_put(machine->system.cache.path, entry.key, entry.bytes, entry.size);
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES - 1);
	assert_int_equal(count_there(machine), ENTRIES - 1);
}

/* There are more drivers than jitwarm remembers at a time. */
static void entries_of_many_drivers_are_carried(void **state)
{
	struct machine *machine = *state;

	for (unsigned n = 0; n < 70; n++) {
		struct entries_entry entry = machine->entries[n % ENTRIES];
		char stamp[CACHE_STAMP_SIZE + 1];

		(void)snprintf(stamp, sizeof stamp, "Jun 25 202402:%02u:%02u", n / 60, n % 60);
		memcpy(entry.bytes + CACHE_ENTRY_HEADER, stamp, CACHE_STAMP_SIZE);
		packs_put(machine->system.cache.path, key_under(&entry, stamp), entry.bytes, entry.size);
	}
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(count_there(machine), ENTRIES);
}

/* Entries that the caller keeps count against the budget, too. */
static void a_budget_bounds_what_is_carried(void **state)
{
	struct machine *machine = *state;

	machine->options.kept = &machine->entries[0].key;
	machine->options.kept_count = 1;
	/* Without them, a third entry would fit, which is two bytes longer than the first. */
	machine->options.most_bytes = machine->entries[0].row_bytes + machine->entries[0].row_bytes +
								  machine->entries[1].row_bytes + 2;
	carry(machine);
	assert_int_equal(machine->result->carried, 2);
}

/* Writes the entry as a driver of CUDA 12.4 makes it, with a different last byte; returns its name
 * there. */
static uint64_t put_older(const struct machine *machine, size_t at)
{
	struct entries_entry entry = machine->entries[at];
	uint8_t *value = entry.bytes + CACHE_ENTRY_HEADER + entry.key_bytes;
	const size_t value_size = entry.size - (size_t)(value - entry.bytes);

	memcpy(entry.bytes + CACHE_ENTRY_HEADER, stamp_550_54, CACHE_STAMP_SIZE);
	value[value_size - 1] ^= 1;
	cache_entry_header(entry.bytes, entry.key_bytes, value_size,
					   fnv_update(FNV_START, value, value_size));
	entry.key = key_under(&entry, stamp_550_54);
	packs_put(machine->system.cache.path, entry.key, entry.bytes, entry.size);
	return entry.key;
}

/* The cache has two entries for one module. */
static void the_same_compiler_wins_over_another_one(void **state)
{
	struct machine *machine = *state;

	for (size_t i = 0; i < ENTRIES; i++)
		(void)put_older(machine, i);
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES);
	assert_int_equal(count_there(machine), ENTRIES);
}

/* In either case, only one of the former entries fits beside the new ones. */
static void a_kept_entry_is_not_evicted(void **state)
{
	(void)state;
	for (size_t kept = 0; kept < ENTRIES; kept++) {
		struct machine machine;
		char *path;

		set_up(&machine, 12050);
		machine.options.kept = &machine.entries[kept].key;
		machine.options.kept_count = 1;
		machine.system.cache.limit_bytes = machine.entries[ENTRIES - 1].row_bytes;
		for (size_t i = 0; i < ENTRIES; i++)
			machine.system.cache.limit_bytes += machine.entries[i].row_bytes;
		carry(&machine);
		assert_int_equal(machine.result->carried, ENTRIES);
		path = keep(cache_entry_path(machine.system.cache.path, machine.entries[kept].key));
		assert_true(os_exists(path));
		tear_down(&machine);
	}
}

/* The name and the checksum are right. */
static void machine_code_of_another_kind_is_not_carried(void **state)
{
	struct machine *machine = *state;

	for (size_t i = 0; i < 3; i++) {
		struct entries_entry entry = machine->entries[i];
		uint8_t *value = entry.bytes + CACHE_ENTRY_HEADER + entry.key_bytes;
		const size_t value_size = entry.size - (size_t)(value - entry.bytes);

		entries_cubin(value, i ? 86 : 75, i == 1);
		/* The ABI is unknown to this driver. */
		if (i == 2) {
			memcpy(value + 7, "\x41\x08", 2);
			store_u32(value + 48, 86 << 8);
		}
		cache_entry_header(entry.bytes, entry.key_bytes, value_size,
						   fnv_update(FNV_START, value, value_size));
		packs_put(machine->system.cache.path, entry.key, entry.bytes, entry.size);
	}
	carry(machine);
	assert_int_equal(machine->result->carried, ENTRIES - 3);
}

static bool count_down(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

/* Entries that were read before Ctrl-C are inserted, and no more are read. */
static void an_interrupt_keeps_what_was_read(void **state)
{
	bool between = false;

	(void)state;
	for (size_t asked = 1; asked < 40; asked++) {
		struct machine machine;
		size_t left = asked;

		set_up(&machine, 12050);
		machine.options.cancel = (struct jw_cancel){&left, count_down};
		carry(&machine);
		assert_int_equal(count_there(&machine), machine.result->carried);
		between = between || (machine.result->carried && machine.result->carried < ENTRIES);
		tear_down(&machine);
	}
	assert_true(between);
}

TEST_PROGRAM
{
	const struct CMUnitTest tests[] = {
		ON(entries_of_the_same_compiler_are_carried, 12050),
		ON(entries_of_another_compiler_stay, 12060),
		ON(entries_of_another_compiler_stay, 12040),
		ON(damaged_entries_are_not_carried, 12050),
		ON(a_third_drivers_entry_is_not_carried, 12050),
		ON(entries_of_many_drivers_are_carried, 12050),
		ON(a_budget_bounds_what_is_carried, 12050),
		ON(the_same_compiler_wins_over_another_one, 12050),
		cmocka_unit_test(a_kept_entry_is_not_evicted),
		cmocka_unit_test(an_interrupt_keeps_what_was_read),
		ON(machine_code_of_another_kind_is_not_carried, 12050),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
