/* The loader's view of a 64-bit PE file: its headers and sections, and the pointers to its
 * containers. Source: Microsoft, "PE Format". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bake/room_pointers.h"

enum {
	PE_OPTIONAL = 24, /* of the optional header, from the signature on */
	PE_SECTION = 40,
	PE_DIRECTORIES = 16,
	PE_MOST_SECTIONS = 96, /* of Windows' loader */
	PE_CHECKSUM_AT = PE_OPTIONAL + 64,
};

struct pe_part {
	uint32_t address, memory_bytes; /* in memory, from the image's base on */
	uint32_t offset, file_bytes;
	uint32_t flags;
};

struct pe_range {
	uint32_t address, size_bytes;
};

struct pe_image {
	const struct os_map *map;
	uint32_t headers_at;  /* of the signature */
	uint32_t sections_at; /* of their headers */
	uint32_t header_bytes;
	uint32_t section_align, file_align;
	uint32_t image_bytes;
	uint32_t symbols_at, symbols;
	uint64_t base;
	struct pe_part *parts; /* as many as sections, in their order */
	size_t part_count;
	struct pe_range directories[PE_DIRECTORIES];
	struct room_pointers pointers;
};

/* JW_ERR_UNSUPPORTED: no 64-bit program or library. JW_ERR_FORMAT: its headers leave the file. */
int pe_image_open(struct jw_error *err, const struct os_map *map,
				  const struct container_room *rooms, size_t count, struct pe_image *ret_image);
/* JW_ERR_FORMAT if a container overlaps what the loader reads. */
int pe_image_check(struct jw_error *err, const struct pe_image *image);
/* Between places in the file and addresses from the base on; false: no section has it. */
bool pe_image_address(const struct pe_image *image, uint64_t offset, uint64_t size_bytes,
					  uint64_t *ret_address);
/* Reads the pointers into containers; the parts are in order, and few. */
int pe_image_pointers(struct jw_error *err, struct pe_image *image);
void pe_image_free(struct pe_image *image);
