/* The containers of a program or library, and the pointers to them that its loader writes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "os/file.h"

/* The place of a container in the file. */
struct container_room {
	uint64_t offset, size_bytes;
};

/* A pointer into a container. */
struct room_pointer {
	uint64_t target;     /* the place that it points to, in the file */
	uint64_t pointer_at; /* the place of the pointer itself, in the file */
	/* The place of the relocation's addend; 0 if the pointer itself has the value. */
	uint64_t addend_at;
	bool wrapper; /* it is the data pointer of a wrapper */
};

struct room_pointers {
	const struct os_map *map;
	const struct container_room *rooms; /* sorted by offset; the caller keeps them and the map */
	size_t room_count;
	struct room_pointer *items; /* sorted by target, after room_pointers_sort */
	size_t count, capacity;
};

/* Returns whether a range of the file overlaps a container. */
bool room_pointers_touch(const struct room_pointers *pointers, uint64_t offset,
						 uint64_t size_bytes);
/* Returns whether a place in the file is in a container. */
bool room_pointers_hold(const struct room_pointers *pointers, uint64_t offset);
/* Records a pointer to a place in a container; its 8 bytes must be in the file. */
int room_pointers_note(struct jw_error *err, struct room_pointers *pointers, uint64_t target,
					   uint64_t pointer_at, uint64_t addend_at);
void room_pointers_sort(struct room_pointers *pointers);
/* Returns the first pointer to `target` or after it. */
size_t room_pointers_first(const struct room_pointers *pointers, uint64_t target);
/* Returns whether wrappers point to the container, and nothing else points into it. */
bool room_pointers_only_wrappers(const struct room_pointers *pointers,
								 const struct container_room *room);
void room_pointers_free(struct room_pointers *pointers);
