/* Private to longer copies: the loader's view of an ELF file, and what is added to it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bake/grow.h"
#include "bake/room_pointers.h"
#include "devcode/elf64.h"

enum { ELF_MOST_SEGMENTS = 64 }; /* few enough to look through them for each pointer */

/* The loader's view of an ELF file: its segments, and the pointers to its containers that the
 * dynamic linker writes. Everything is read from the program headers and the dynamic section, so
 * stripped files are read too. */
struct elf_view {
	const struct os_map *map;
	struct elf64_header elf;
	struct elf64_segment *segments; /* elf.phnum */
	struct room_pointers pointers;
};

/* `rooms`: by offset; the caller keeps them and the map. JW_ERR_FORMAT: a header leaves the file.
 * JW_ERR_UNSUPPORTED: no 64-bit program or library. JW_ERR_LIMIT: more than ELF_MOST_SEGMENTS. */
int elf_view_open(struct jw_error *err, const struct os_map *map,
				  const struct container_room *rooms, size_t count, struct elf_view *ret_view);
/* JW_ERR_FORMAT if a container overlaps what the loader reads: rewriting it would break the file */
int elf_view_check(struct jw_error *err, const struct elf_view *view);
/* From a place in the file to its address; false: no segment has it. */
bool elf_view_address(const struct elf_view *view, uint64_t offset, uint64_t size_bytes,
					  uint64_t *ret_address);
/* Reads the pointers into containers. JW_ERR_FORMAT: segments overlap, or there are more pointers
 * than the file has room for. */
int elf_view_references(struct jw_error *err, struct elf_view *view);
void elf_view_free(struct elf_view *view);

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

/* Fills in the view and the places, of `map`; reads the pointers. */
int elf_grow_open(struct jw_error *err, const struct container_room *rooms, size_t count,
				  struct grow *grow);
int elf_grow_finish(struct jw_error *err, const struct grow *grow, struct baked_copy *copy);

static inline uint64_t grow_aligned(uint64_t at, uint64_t multiple)
{
	return (at + multiple - 1) / multiple * multiple;
}
