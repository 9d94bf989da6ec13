/* A longer copy of an ELF file: containers without room get another place, which their wrappers
 * point to. Source: System V ABI, chapters 4 and 5, and docs/bake.md.
 *
 * The new places are in a segment at the end of the file, behind a copy of the program headers with
 * one more. A container's former room is free for others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bake/baked_copy.h"
#include "bake/elf_pointers.h"

struct elf_grow;

/* `rooms`: of all containers, by offset; the caller keeps both. Reads the pointers to them.
 * JW_ERR_UNSUPPORTED or JW_ERR_FORMAT: the file cannot become longer, for the reason given. */
int elf_grow_open(struct jw_error *err, const struct os_map *map, const struct elf_grow_room *rooms,
				  size_t count, struct elf_grow **ret_grow);
/* Whether only wrappers point to the container, and at least one does. */
bool elf_grow_may_move(const struct elf_grow *grow, const struct elf_grow_room *room);
/* Puts the container's new bytes into another place, points its wrappers there, and frees its
 * room. */
int elf_grow_move(struct jw_error *err, struct elf_grow *grow, struct baked_copy *copy,
				  const struct elf_grow_room *room, const void *bytes, size_t size);
/* Writes the headers. Nothing is written if no container was moved. */
int elf_grow_finish(struct jw_error *err, struct elf_grow *grow, struct baked_copy *copy);
void elf_grow_free(struct elf_grow *grow);
