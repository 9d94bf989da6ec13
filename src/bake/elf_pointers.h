/* The loader's view of an ELF file: its segments, and the pointers to its containers that the
 * dynamic linker writes. Everything is read from the program headers and the dynamic section, so
 * stripped files are read too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bake/room_pointers.h"
#include "code/elf64.h"

enum { ELF_MAX_SEGMENTS = 64 }; /* few enough to search them for each pointer */

struct elf_view {
	const struct os_map *map;
	struct elf64_header elf;
	struct elf64_segment *segments; /* elf.phnum of them */
	struct room_pointers pointers;
};

/* Opens a view. `rooms` are sorted by offset; the caller keeps them and the map. JW_ERR_FORMAT if a
 * header is outside the file, JW_ERR_UNSUPPORTED if it is not a 64-bit program or library,
 * JW_ERR_LIMIT for more than ELF_MAX_SEGMENTS. */
int elf_view_open(struct jw_error *err, const struct os_map *map,
				  const struct container_room *rooms, size_t count, struct elf_view *ret_view);
/* JW_ERR_FORMAT if a container overlaps bytes that the loader reads, so that rewriting it would
 * break the file. */
int elf_view_check(struct jw_error *err, const struct elf_view *view);
/* Converts a range of the file to its address when loaded; false if no segment holds all of it. */
bool elf_view_address(const struct elf_view *view, uint64_t offset, uint64_t size_bytes,
					  uint64_t *ret_address);
/* Finds the pointers that point into containers. JW_ERR_FORMAT if segments overlap, or there are
 * more pointers than fit into the file. */
int elf_view_references(struct jw_error *err, struct elf_view *view);
void elf_view_free(struct elf_view *view);
