/* A machine whose cache has entries of a former driver, which can be carried over. */
#pragma once

#include "folder.h"

#include <jitwarm/carry.h>

#include "base/text.h"
#include "cache/entry.h"
#include "entries.h"
#include "packs.h"

/* The entries of entries_make belong to driver 555.58.02 (CUDA 12.5). */
static const char stamp_now[] = "Nov 11 202511:11:11";

enum { ENTRIES = 5 };

/* A machine whose driver has this CUDA version, with ENTRIES entries of driver 555 in its cache. */
struct machine {
	struct jw_system system;
	struct entries_entry entries[ENTRIES];
	uint64_t keys[ENTRIES],
		key_bytes[ENTRIES]; /* the keys under which its own driver would store them */
	struct jw_identity identities[ENTRIES];
	struct jw_carry_options options;
	struct jw_carry_result *result; /* the result of the last carry */
};

static inline uint64_t key_under(const struct entries_entry *entry, const char *stamp)
{
	const uint64_t state = fnv_update(FNV_START, stamp, CACHE_STAMP_SIZE);

	return fnv_update(state, entry->bytes + CACHE_ENTRY_HEADER + CACHE_STAMP_SIZE,
					  (size_t)entry->key_bytes - CACHE_STAMP_SIZE);
}

static inline void set_up(struct machine *machine, uint32_t cuda)
{
	*machine = (struct machine){.system = packs_machine(folder)};
	TEXT_COPY(machine->system.driver.stamp, stamp_now);
	machine->system.driver.version = (struct jw_driver){cuda, {570, 1, 2}};
	for (unsigned i = 0; i < ENTRIES; i++) {
		struct entries_entry *entry = &machine->entries[i];

		entries_make(entry, i, 100 + i);
		packs_put(machine->system.cache.path, entry->key, entry->bytes, entry->size);
		machine->keys[i] = key_under(entry, stamp_now);
		machine->key_bytes[i] = entry->key_bytes;
		machine->identities[i] = entry->identity;
	}
	machine->options = (struct jw_carry_options){.system = &machine->system,
												 .keys = machine->keys,
												 .key_bytes = machine->key_bytes,
												 .identities = machine->identities,
												 .count = ENTRIES};
}

static inline void tear_down(struct machine *machine)
{
	if (os_exists(machine->system.cache.path))
		OK(os_remove_tree(why, machine->system.cache.path));
	jw_result_free(machine->result);
}

/* The driver of a test's machine, which compiles as driver 555 does, or is newer or older. */
struct given {
	uint32_t cuda;
};

static inline int begin(void **state)
{
	const struct given *given = *state;
	struct machine *machine = mem_alloc(sizeof *machine);

	assert_non_null(machine);
	set_up(machine, given->cuda);
	*state = machine;
	return 0;
}

static inline int end(void **state)
{
	tear_down(*state);
	mem_free(*state);
	return 0;
}

static inline void carry(struct machine *machine)
{
	jw_result_free(machine->result);
	machine->result = NULL;
	OK(jw_carry(why, &machine->options, &machine->result));
	assert_string_equal(machine->result->note, "");
}

/* Counts the wanted entries that exist, are whole, and have the bytes of the former entry. */
static inline size_t count_there(const struct machine *machine)
{
	size_t count = 0;

	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entries_entry *from = &machine->entries[i];
		char *path = keep(cache_entry_path(machine->system.cache.path, machine->keys[i]));
		struct cache_entry entry;
		struct buf file = {0};

		if (!os_read_file(NULL, path, ENTRIES_MAX, &file)) {
			assert_int_equal(cache_entry_verify(file.data, file.size, machine->keys[i], &entry),
							 CACHE_SOUND);
			assert_int_equal(file.size, from->size);
			assert_memory_equal(entry.key, stamp_now, CACHE_STAMP_SIZE);
			assert_memory_equal(entry.value, from->bytes + from->size - entry.value_bytes,
								entry.value_bytes);
			count++;
		}
		buf_free(&file);
	}
	return count;
}

static inline void remove_entry(const struct machine *machine, uint64_t key)
{
	OK(os_remove(why, keep(cache_entry_path(machine->system.cache.path, key))));
}

#define ON(test, cuda)                                                                             \
	cmocka_unit_test_prestate_setup_teardown(test, begin, end, (&(struct given){cuda}))
