#include "bake/pe_image.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"

enum {
	DOS_HEADER = 64,
	NEW_HEADERS_AT = 0x3c,
	COFF_MACHINE_AT = 4,
	COFF_SECTIONS_AT = 6,
	COFF_SYMBOLS_AT = 12,
	COFF_OPTIONAL_SIZE_AT = 20,
	OPTIONAL_LEAST = 112, /* as far as the directories */
	OPTIONAL_64 = 0x20b,
	BASE_AT = PE_OPTIONAL + 24,
	ALIGN_AT = PE_OPTIONAL + 32,
	SIZES_AT = PE_OPTIONAL + 56,
	DIRECTORY_COUNT_AT = PE_OPTIONAL + 108,
	DIRECTORIES_AT = PE_OPTIONAL + OPTIONAL_LEAST,
	MACHINE_X86_64 = 0x8664,
	MACHINE_ARM64_PE = 0xaa64,
	SECTION_CODE = 0x20,
	SECTION_INITIALISED = 0x40,
	SECTION_EXECUTE = 0x20000000,
};

enum { CERTIFICATES = 4, RELOCATIONS = 5 };

/* ---- headers */

static uint16_t number_16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static int read_pe_parts(struct jw_error *err, struct pe_image *image)
{
	const uint8_t *data = image->map->data;

	image->parts = mem_array(err, image->part_count, sizeof *image->parts);
	if (!image->parts)
		return -1;
	for (size_t i = 0; i < image->part_count; i++) {
		const uint8_t *header = data + image->sections_at + i * PE_SECTION;
		struct pe_part *part = &image->parts[i];

		part->memory_bytes = load_u32(header + 8);
		part->address = load_u32(header + 12);
		part->file_bytes = load_u32(header + 16);
		part->offset = load_u32(header + 20);
		part->flags = load_u32(header + 36);
		part->memory_bytes = part->memory_bytes ? part->memory_bytes : part->file_bytes;
		part->file_bytes = part->offset ? part->file_bytes : 0;
	}
	return 0;
}

static void read_directories(struct pe_image *image, size_t optional_size)
{
	const uint8_t *headers = image->map->data + image->headers_at;
	const uint32_t count = load_u32(headers + DIRECTORY_COUNT_AT);

	for (size_t i = 0; i < PE_DIRECTORIES && i < count; i++)
		if (OPTIONAL_LEAST + 8 * (i + 1) <= optional_size)
			image->directories[i] =
				(struct pe_range){load_u32(headers + DIRECTORIES_AT + 8 * i),
								  load_u32(headers + DIRECTORIES_AT + 8 * i + 4)};
}

static int read_headers(struct jw_error *err, struct pe_image *image)
{
	const struct os_map *map = image->map;
	const uint8_t *headers;
	uint16_t machine, optional_size;
	uint64_t sections_at;

	if (map->size < DOS_HEADER || map->data[0] != 'M' || map->data[1] != 'Z')
		return error_set(err, JW_ERR_UNSUPPORTED, "no PE file");
	image->headers_at = load_u32(map->data + NEW_HEADERS_AT);
	if (map->size > INT32_MAX || !range_fits(image->headers_at, PE_OPTIONAL + 2, map->size))
		return error_set(err, JW_ERR_UNSUPPORTED, "no PE file, or more than 2 GB");
	headers = map->data + image->headers_at;
	machine = number_16(headers + COFF_MACHINE_AT);
	optional_size = number_16(headers + COFF_OPTIONAL_SIZE_AT);
	if (memcmp(headers, "PE\0\0", 4) != 0 || number_16(headers + PE_OPTIONAL) != OPTIONAL_64 ||
		(machine != MACHINE_X86_64 && machine != MACHINE_ARM64_PE))
		return error_set(err, JW_ERR_UNSUPPORTED, "no 64-bit PE program or library");
	image->part_count = number_16(headers + COFF_SECTIONS_AT);
	sections_at = (uint64_t)image->headers_at + PE_OPTIONAL + optional_size;
	if (image->part_count > PE_MOST_SECTIONS)
		return error_set(err, JW_ERR_LIMIT, "more than %d sections", PE_MOST_SECTIONS);
	if (optional_size < OPTIONAL_LEAST ||
		!range_fits(sections_at, image->part_count * PE_SECTION, map->size))
		return error_set(err, JW_ERR_FORMAT, "headers that leave the file");
	image->sections_at = (uint32_t)sections_at;
	image->symbols_at = load_u32(headers + COFF_SYMBOLS_AT);
	image->symbols = load_u32(headers + COFF_SYMBOLS_AT + 4);
	image->base = load_u64(headers + BASE_AT);
	image->section_align = load_u32(headers + ALIGN_AT);
	image->file_align = load_u32(headers + ALIGN_AT + 4);
	image->image_bytes = load_u32(headers + SIZES_AT);
	image->header_bytes = load_u32(headers + SIZES_AT + 4);
	read_directories(image, optional_size);
	return 0;
}

int pe_image_open(struct jw_error *err, const struct os_map *map,
				  const struct container_room *rooms, size_t count, struct pe_image *ret_image)
{
	struct pe_image image = {.map = map,
							 .pointers = {.map = map, .rooms = rooms, .room_count = count}};

	if (read_headers(err, &image) || read_pe_parts(err, &image)) {
		pe_image_free(&image);
		return -1;
	}
	*ret_image = image;
	return 0;
}

void pe_image_free(struct pe_image *image)
{
	mem_free(image->parts);
	room_pointers_free(&image->pointers);
	*image = (struct pe_image){0};
}

/* ---- places */

/* How much of a section is in the file, and in memory. */
static uint32_t mapped_bytes(const struct pe_part *part)
{
	return part->file_bytes < part->memory_bytes ? part->file_bytes : part->memory_bytes;
}

static bool part_has(const struct pe_part *part, uint64_t address, uint64_t size_bytes)
{
	return address >= part->address &&
		   range_fits(address - part->address, size_bytes, mapped_bytes(part));
}

static const struct pe_part *find_part(const struct pe_image *image, uint64_t address,
									   uint64_t size_bytes)
{
	for (size_t i = 0; i < image->part_count; i++)
		if (part_has(&image->parts[i], address, size_bytes))
			return &image->parts[i];
	return NULL;
}

static bool pe_image_offset(const struct pe_image *image, uint64_t address, uint64_t size_bytes,
							uint64_t *ret_offset)
{
	const struct pe_part *part;

	if (range_fits(address, size_bytes, image->header_bytes)) {
		*ret_offset = address;
		return range_fits(address, size_bytes, image->map->size);
	}
	part = find_part(image, address, size_bytes);
	if (!part)
		return false;
	*ret_offset = part->offset + (address - part->address);
	return range_fits(*ret_offset, size_bytes, image->map->size);
}

bool pe_image_address(const struct pe_image *image, uint64_t offset, uint64_t size_bytes,
					  uint64_t *ret_address)
{
	for (size_t i = 0; i < image->part_count; i++) {
		const struct pe_part *part = &image->parts[i];

		if (offset < part->offset ||
			!range_fits(offset - part->offset, size_bytes, mapped_bytes(part)))
			continue;
		*ret_address = part->address + (offset - part->offset);
		return true;
	}
	return false;
}

/* ---- what the loader reads */

static bool touches(const struct pe_image *image, uint64_t address, uint64_t size_bytes)
{
	uint64_t offset, last;

	/* A table may go on where the file has nothing. */
	if (!pe_image_offset(image, address, 1, &offset))
		return false;
	if (!pe_image_offset(image, address + size_bytes - 1, 1, &last) || last < offset)
		size_bytes = 1;
	return room_pointers_touch(&image->pointers, offset, size_bytes);
}

int pe_image_check(struct jw_error *err, const struct pe_image *image)
{
	const uint32_t table_end = image->sections_at + (uint32_t)image->part_count * PE_SECTION;
	bool touched = room_pointers_touch(&image->pointers, 0, table_end) ||
				   room_pointers_touch(&image->pointers, 0, image->header_bytes);

	for (size_t i = 0; i < PE_DIRECTORIES; i++) {
		const struct pe_range *range = &image->directories[i];

		if (!range->address || !range->size_bytes)
			continue;
		/* The certificates alone have a place in the file. */
		touched = touched ||
				  (i == CERTIFICATES
					   ? room_pointers_touch(&image->pointers, range->address, range->size_bytes)
					   : touches(image, range->address, range->size_bytes));
	}
	return touched ? error_set(err, JW_ERR_FORMAT, "a container overlaps what the loader reads")
				   : 0;
}

/* ---- pointers */

/* Notes the 8 bytes at a place in the file if they point into a container. */
static int note_value(struct jw_error *err, struct pe_image *image, uint64_t pointer_at)
{
	const uint64_t value = load_u64(image->map->data + pointer_at);
	uint64_t target;

	if (value < image->base || value - image->base > UINT32_MAX ||
		!pe_image_offset(image, value - image->base, 1, &target) ||
		!room_pointers_hold(&image->pointers, target))
		return 0;
	return room_pointers_note(err, &image->pointers, target, pointer_at, 0);
}

/* Blocks of a page each: its address, the block's size, and for each relocation its kind and its
 * place in the page. */
static int read_base_relocations(struct jw_error *err, struct pe_image *image, uint64_t offset,
								 uint64_t size_bytes)
{
	enum { BLOCK = 8, KIND_64 = 10 };
	const uint8_t *table = image->map->data + offset;
	uint64_t pointer_at;

	for (uint64_t at = 0; at + BLOCK <= size_bytes;) {
		const uint64_t page = load_u32(table + at), size = load_u32(table + at + 4);

		if (size < BLOCK || size > size_bytes - at)
			break;
		for (uint64_t i = BLOCK; i + 2 <= size; i += 2) {
			const uint16_t relocation = number_16(table + at + i);

			if (relocation >> 12 == KIND_64 &&
				pe_image_offset(image, page + (relocation & 0xfff), 8, &pointer_at) &&
				note_value(err, image, pointer_at))
				return -1;
		}
		at += size;
	}
	return 0;
}

/* An image that is always at its base has its pointers in place, among its data. */
static int read_fixed_values(struct jw_error *err, struct pe_image *image)
{
	for (size_t i = 0; i < image->part_count; i++) {
		const struct pe_part part = image->parts[i];

		if (!(part.flags & SECTION_INITIALISED) ||
			(part.flags & (SECTION_CODE | SECTION_EXECUTE)) ||
			!range_fits(part.offset, part.file_bytes, image->map->size))
			continue;
		for (uint64_t at = 0; at + 8 <= mapped_bytes(&part); at += 8)
			if (note_value(err, image, part.offset + at))
				return -1;
	}
	return 0;
}

int pe_image_pointers(struct jw_error *err, struct pe_image *image)
{
	const struct pe_range *table = &image->directories[RELOCATIONS];
	uint64_t offset;
	int result;

	if (!table->size_bytes)
		result = read_fixed_values(err, image);
	else if (!pe_image_offset(image, table->address, table->size_bytes, &offset))
		result = error_set(err, JW_ERR_FORMAT, "relocations that are not in the file");
	else
		result = read_base_relocations(err, image, offset, table->size_bytes);
	room_pointers_sort(&image->pointers);
	return result;
}
