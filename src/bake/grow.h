/* A longer copy of a program or library: containers without room get another place, which their
 * wrappers point to. The new places are behind the file's content. A container's
 * former room is free for others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bake/baked_copy.h"
#include "bake/elf_pointers.h"

struct grow {
	const struct os_map *map;
	struct elf_view elf;
	uint64_t align;              /* of addresses of what is new */
	uint64_t start, end;         /* of what is new, in the file */
	uint64_t delta;              /* its address, less its place in the file */
	struct container_room *free; /* former rooms; the last one may still become larger */
	size_t free_count, free_capacity;
	size_t moved;
	uint64_t first_moved; /* where it was */
};

/* JW_ERR_FORMAT if a container overlaps what the loader reads: rewriting it would break the file.
 * 0 too for what is no program or library. `rooms`: of all containers, by offset. */
int grow_check(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			   size_t count);
/* The caller keeps `map` and `rooms`. Reads the pointers to them. JW_ERR_UNSUPPORTED or
 * JW_ERR_FORMAT: the file cannot become longer, for the reason given. */
int grow_open(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			  size_t count, struct grow **ret_grow);
/* Whether the container can move: only wrappers point to it, and at least one
 * does. Otherwise JW_ERR_UNSUPPORTED, with the reason. */
int grow_may_move(struct jw_error *err, const struct grow *grow, const struct container_room *room);
/* Puts the container's new bytes into another place, points wrappers there, frees its room */
int grow_move(struct jw_error *err, struct grow *grow, struct baked_copy *copy,
			  const struct container_room *room, const void *bytes, size_t size);
/* Writes the headers. Nothing is written if no container was moved. */
int grow_finish(struct jw_error *err, struct grow *grow, struct baked_copy *copy);
void grow_free(struct grow *grow);
