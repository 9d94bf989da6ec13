/* A hash table from 64-bit keys to indices, for finding duplicates: the caller keeps the elements
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

/* The first index with `key`, or SET_NONE. Start with *cursor = 0 and call again for the next one
 * with the same key. */
size_t set_find(const struct set *set, uint64_t key, size_t *cursor);
/* Whether `key` has an index. */
bool set_has(const struct set *set, uint64_t key);
/* Adds (key, index); the same key may be added several times, which takes time for each before. */
void set_add(struct set *set, uint64_t key, size_t index);
/* The same; in place of the first index that the key has. */
void set_put(struct set *set, uint64_t key, size_t index);
void set_free(struct set *set);
