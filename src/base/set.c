#include "base/set.h"

#include "base/mem.h"

struct set_slot {
	uint64_t key;
	size_t index_plus_one; /* 0 for an empty slot */
};

/* Fibonacci hashing: FNV and BLAKE2b keys are well mixed already, small integers are not. The
 * table's address, which nobody can predict, keeps a file from choosing keys that fall into one
 * slot. Thousands of keys that differ only in their highest bits still share one, which takes
 * seconds at most. */
static size_t slot_of(const struct set *set, uint64_t key)
{
	const uint64_t mixed = (key ^ (uintptr_t)set->slots) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) & (set->capacity - 1);
}

size_t set_find(const struct set *set, uint64_t key, size_t *cursor)
{
	if (!set->capacity)
		return SET_NONE;
	for (size_t step = *cursor; step < set->capacity; step++) {
		const struct set_slot *slot = &set->slots[(slot_of(set, key) + step) & (set->capacity - 1)];

		if (!slot->index_plus_one)
			break;
		if (slot->key == key) {
			*cursor = step + 1;
			return slot->index_plus_one - 1;
		}
	}
	return SET_NONE;
}

bool set_has(const struct set *set, uint64_t key)
{
	size_t cursor = 0;

	return set_find(set, key, &cursor) != SET_NONE;
}

static void place(struct set *set, uint64_t key, size_t index)
{
	size_t at = slot_of(set, key);

	while (set->slots[at].index_plus_one)
		at = (at + 1) & (set->capacity - 1);
	set->slots[at] = (struct set_slot){key, index + 1};
	set->count++;
}

void set_add(struct set *set, uint64_t key, size_t index)
{
	if (set->count * 3 >= set->capacity * 2) {
		struct set larger = {.capacity = set->capacity ? set->capacity * 2 : 64};
		size_t start = 0;

		larger.slots = mem_array(larger.capacity, sizeof *larger.slots);
		/* Indices of one key keep their order, also around the end of the table. */
		while (start < set->capacity && set->slots[start].index_plus_one)
			start++;
		for (size_t i = 0; i < set->capacity; i++) {
			const struct set_slot *slot = &set->slots[(start + i) & (set->capacity - 1)];

			if (slot->index_plus_one)
				place(&larger, slot->key, slot->index_plus_one - 1);
		}
		mem_free(set->slots);
		*set = larger;
	}
	place(set, key, index);
}

void set_put(struct set *set, uint64_t key, size_t index)
{
	size_t cursor = 0;

	if (set_find(set, key, &cursor) == SET_NONE)
		set_add(set, key, index);
	else
		set->slots[(slot_of(set, key) + cursor - 1) & (set->capacity - 1)].index_plus_one =
			index + 1;
}

void set_free(struct set *set)
{
	mem_free(set->slots);
	*set = (struct set){0};
}
