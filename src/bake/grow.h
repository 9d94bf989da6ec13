/* A longer copy of a program or library: containers that do not fit get another place, and their
 * wrappers point to it. The new places are after the file's content. A container's former room is
 * free for others. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bake/baked_copy.h"
#include "bake/elf_pointers.h"

struct grow {
	const struct os_map *map;
	struct elf_view elf;
	uint64_t align;              /* the alignment of the addresses of new bytes */
	uint64_t start, end;         /* the place of the new bytes in the file */
	uint64_t delta;              /* their address minus their place in the file */
	struct container_room *free; /* former rooms; the last one may still grow */
	size_t free_count, free_capacity;
	size_t moved;
	uint64_t first_moved; /* where the first moved container was */
};

/* JW_ERR_FORMAT if a container overlaps bytes that the loader reads, so that rewriting it would
 * break the file; 0 also for a file that is neither a program nor a library. `rooms` has all
 * containers, sorted by offset. */
int grow_check(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			   size_t count);
/* Opens a file for growing and reads the pointers to its rooms. The caller keeps `map` and `rooms`.
 * JW_ERR_UNSUPPORTED or JW_ERR_FORMAT, with the reason, if the file cannot become longer. */
int grow_open(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			  size_t count, struct grow **ret_grow);
/* Fails with JW_ERR_UNSUPPORTED and the reason if the container cannot move: only wrappers may
 * point to it, and at least one must. */
int grow_may_move(struct jw_error *err, const struct grow *grow, const struct container_room *room);
/* Writes the container's new bytes to another place, points wrappers there, and frees its room. */
int grow_move(struct jw_error *err, struct grow *grow, struct baked_copy *copy,
			  const struct container_room *room, const void *bytes, size_t size);
/* Writes the headers; nothing if no container was moved. */
int grow_finish(struct jw_error *err, struct grow *grow, struct baked_copy *copy);
void grow_free(struct grow *grow);
