/* Memory. None of these functions fails: if memory runs out, the process ends with one line
 * (mem_ended), and leaves behind what a kill would leave. Callers bound a size that comes from
 * input before they allocate it. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Ends the process for lack of memory, with status 3. Also for library calls that fail only for
 * this reason; those pass a size of 0. */
_Noreturn void mem_ended(size_t wanted);

/* Allocates `size` zeroed bytes. A result of size 0 must be freed, too. */
void *mem_alloc(size_t size);

/* count * size bytes, zeroed, with the multiplication checked. */
void *mem_array(size_t count, size_t size);

/* Resizes like realloc; new bytes are not zeroed. */
void *mem_resize(void *old, size_t size);

void mem_free(void *pointer);

/* A copy of a string, or of its first `length` bytes, ending in NUL. SIZE_MAX, the difference of
 * two places in the wrong order, ends the process. */
char *mem_string(const char *text);
char *mem_string_n(const char *text, size_t length);
/* Adds a copy of `text` to a list; if the list already has `most` lines, the copy is dropped. */
void mem_add_string(char ***list, size_t *count, size_t most, const char *text);

/* printf into a new string. */
char *mem_vprintf(const char *format, va_list arguments) JW_PRINTF(1, 0);
char *mem_printf(const char *format, ...) JW_PRINTF(1, 2);

/* Makes room for one more element in a growing array: `*array` holds `count` elements of `size`
 * bytes, `*capacity` fit. Doubles when full, never past `most` elements (JW_ERR_LIMIT). Use through
 * VEC_ROOM. */
int mem_room(struct jw_error *err, void **array, size_t *capacity, size_t count, size_t size,
			 size_t most);

/* Returns 0 or -1; VEC_ROOM(err, list->items, list->capacity, list->count, MAX). */
#define VEC_ROOM(err, array, capacity, count, most)                                                \
	mem_room((err), (void **)&(array), &(capacity), (count), sizeof *(array), (most))

/* Grows an array whose number of elements is bounded elsewhere. */
#define VEC_GROW(array, capacity, count)                                                           \
	((void)mem_room(NULL, (void **)&(array), &(capacity), (count), sizeof *(array), SIZE_MAX))

/* The parts of a growing array; VEC_LIST(list->items, list->count, list->capacity, MAX). */
struct mem_list {
	void **array;
	size_t *count, *capacity, size, most;
};
#define VEC_LIST(array, count, capacity, most)                                                     \
	((struct mem_list){(void **)&(array), &(count), &(capacity), sizeof *(array), (most)})

/* Returns the position of the first element that equals *like. If there is none, a copy of *like is
 * added; a full list stays as it is, and the position is `most`. */
size_t mem_find_or_add(const struct mem_list *list, const void *like,
					   bool (*same)(const void *element, const void *like));
