/* A hash table from 64-bit keys to indices, for finding duplicates. The caller keeps the elements
 * in an array and compares those that share a key. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct set {
	struct set_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

#define SET_NONE SIZE_MAX

/* Returns the first index with `key`, or SET_NONE. Start with *cursor = 0; call again for the next
 * index with the same key. */
size_t set_find(const struct set *set, uint64_t key, size_t *cursor);
bool set_has(const struct set *set, uint64_t key);
/* Adds (key, index). A key may be added several times; each time costs a step for every earlier
 * index of the key, so keys without indices, of which there may be many, are for set_put. */
void set_add(struct set *set, uint64_t key, size_t index);
/* Replaces the first index that the key has; adds the pair if there is none. */
void set_put(struct set *set, uint64_t key, size_t index);
void set_free(struct set *set);
