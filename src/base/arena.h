/* Memory of a result. Its first piece owns all others, and jw_result_free frees them together. For
 * one thread at a time; if memory runs out, the process ends, as in base/mem.h. */
#pragma once

#include <stddef.h>

#include <jitwarm/error.h>

#include "base/mem.h"

/* Makes `size` zeroed bytes that own what the functions below make. */
void *arena_open(size_t size);
void *arena_alloc(void *owner, size_t size);
/* As mem_array. */
void *arena_array(void *owner, size_t count, size_t size);
/* A copy of a string; NULL if it is NULL. */
char *arena_string(void *owner, const char *text);
char *arena_printf(void *owner, const char *format, ...) JW_PRINTF(2, 3);
/* Takes ownership of memory of base/mem.h, which may be NULL, and returns it. */
void *arena_keep(void *owner, void *pointer);
/* Takes ownership of another result, and of all that it owns. */
void arena_join(void *owner, void *other);

/* As mem_room, mem_add_string and VEC_ROOM, for arrays of the owner. */
int arena_room(struct jw_error *err, void *owner, void **array, size_t *capacity, size_t count,
			   size_t size, size_t most);
void arena_add_string(void *owner, char ***list, size_t *count, size_t most, const char *text);
#define ARENA_ROOM(err, owner, array, capacity, count, most)                                       \
	arena_room((err), (owner), (void **)&(array), &(capacity), (count), sizeof *(array), (most))
