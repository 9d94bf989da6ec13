/* Private to longer copies: what all formats share, and what each of them does. */
#pragma once

#include "bake/elf_pointers.h"
#include "bake/grow.h"
#include "bake/pe_image.h"

struct grow_format {
	/* As grow_check; 0 for other formats. */
	int (*check)(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
				 size_t count);
	/* Fills in the format's view and the places; reads the pointers. */
	int (*open)(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
				size_t count, struct grow *grow);
	/* From a place in the file to its address, as pointers have it; false: none has it. */
	bool (*address)(const struct grow *grow, uint64_t offset, uint64_t size_bytes,
					uint64_t *ret_address);
	int (*finish)(struct jw_error *err, struct grow *grow, struct baked_copy *copy);
	void (*close)(struct grow *grow);
};
extern const struct grow_format grow_elf, grow_pe;

struct grow {
	const struct grow_format *format;
	const struct os_map *map;
	struct room_pointers *pointers; /* the view's */
	struct elf_view elf;
	struct pe_image pe;
	uint64_t align;              /* of addresses of what is new */
	uint64_t start, end;         /* of what is new, in the file */
	uint64_t most_end;           /* where the format ends */
	uint64_t delta;              /* its address, less its place in the file */
	uint32_t header_shift;       /* PE: the headers move this much towards the beginning */
	struct container_room *free; /* former rooms; the last one may still become larger */
	size_t free_count, free_capacity;
	size_t moved;
	uint64_t first_moved; /* where it was */
};

static inline uint64_t grow_aligned(uint64_t at, uint64_t multiple)
{
	return (at + multiple - 1) / multiple * multiple;
}
