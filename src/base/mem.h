/* Memory. Only these functions call malloc and free, so that a test can make the n-th allocation
 * fail.
 *
 * Every function that allocates takes an upper bound or a checked size; none aborts */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* `size` bytes, zeroed. NULL and err set when memory is short. That of size 0 must be freed, too */
void *mem_alloc(struct jw_error *err, size_t size);

/* count * size bytes, zeroed, with the multiplication checked. */
void *mem_array(struct jw_error *err, size_t count, size_t size);

/* As realloc; new bytes are not zeroed. On failure `old` is still valid. */
void *mem_resize(struct jw_error *err, void *old, size_t size);

void mem_free(void *pointer);

/* A copy of a string, or of its first `length` bytes, ending in NUL. */
char *mem_string(struct jw_error *err, const char *text);
char *mem_string_n(struct jw_error *err, const char *text, size_t length);
/* Adds a copy to a list; beyond `most` the line is dropped, which is not a failure. */
int mem_add_string(struct jw_error *err, char ***list, size_t *count, size_t most,
				   const char *text);

/* printf into a new string. */
char *mem_vprintf(struct jw_error *err, const char *format, va_list arguments) JW_PRINTF(2, 0);
char *mem_printf(struct jw_error *err, const char *format, ...) JW_PRINTF(2, 3);

/* Makes room for one more element in a growing array: `*array` holds `count` elements of `size`
 * bytes, `*capacity` fit. Doubles when full, never past `most` elements (JW_ERR_LIMIT). Use through
 * VEC_ROOM. */
int mem_room(struct jw_error *err, void **array, size_t *capacity, size_t count, size_t size,
			 size_t most);

/* VEC_ROOM(err, list->items, list->capacity, list->count, MOST): 0 or -1. */
#define VEC_ROOM(err, array, capacity, count, most)                                                \
	mem_room((err), (void **)&(array), &(capacity), (count), sizeof *(array), (most))

/* A growing array by its parts; VEC_LIST(list->items, list->count, list->capacity, MOST). */
struct mem_list {
	void **array;
	size_t *count, *capacity, size, most;
};
#define VEC_LIST(array, count, capacity, most)                                                     \
	((struct mem_list){(void **)&(array), &(count), &(capacity), sizeof *(array), (most)})

/* The position of the first element equal to *like; if there is none, of a copy, which is added. A
 * full list adds none: then *ret_at is `most`. */
int mem_find_or_add(struct jw_error *err, const struct mem_list *list, const void *like,
					bool (*same)(const void *element, const void *like), size_t *ret_at);

/* Whether any allocation of this process has failed. What then takes a file for absent, or goes on
 * without what it remembered, reports no failure: a program that ends says that this happened. */
bool mem_has_lacked(void);

/* Tests only: the n-th allocation of this thread from now fails (1: the next one); 0 turns it off.
 * Returns how many were still to come before the one that was to fail: 0 where it has failed. */
size_t mem_fail_after(size_t allocations);
