/* A longer copy of a PE file: a section at its end. Source: Microsoft, "PE Format", and what the
 * loaders of Windows and Wine want: sections that follow each other without gaps.
 *
 * Where the section's header has no room, all headers move towards the beginning of the file, over
 * the program for MS-DOS. */
#include <string.h>

#include "bake/growing.h"
#include "base/cursor.h"
#include "base/mem.h"

enum {
	PAGE = 1 << 12,
	SECTOR = 1 << 9,
	MOST_ALIGN = 1 << 28,
	DOS_HEADER = 64,
	NEW_HEADERS_AT = 0x3c,
	SECTIONS_AT = 6, /* from the signature on, as all of these */
	DATA_SIZE_AT = PE_OPTIONAL + 8,
	IMAGE_SIZE_AT = PE_OPTIONAL + 56,
	SYMBOL = 18,
	CERTIFICATES = 4,
	READABLE_DATA = 0x40000040,
};
#define MOST_PE UINT64_C(0x7fff0000) /* addresses in an image, and sizes of files, end at 2 GB */

static bool is_power(uint32_t value, uint32_t least, uint32_t most)
{
	return value >= least && value <= most && !(value & (value - 1));
}

/* Ends of the sections in memory and in the file. */
struct pe_ends {
	uint64_t memory, file;
	uint64_t first_file; /* where the first one begins */
};

static int follow_sections(struct jw_error *err, const struct pe_image *image,
						   struct pe_ends *ret_ends)
{
	struct pe_ends ends = {.memory = grow_aligned(image->header_bytes, image->section_align),
						   .file = image->header_bytes,
						   .first_file = image->header_bytes};

	if (image->header_bytes > image->map->size)
		return error_set(err, JW_ERR_FORMAT, "headers that leave the file");
	for (size_t i = 0; i < image->part_count; i++) {
		const struct pe_part *part = &image->parts[i];

		if (part->address != ends.memory || !part->memory_bytes)
			return error_set(err, JW_ERR_UNSUPPORTED, "sections that do not follow each other");
		ends.memory = grow_aligned(ends.memory + part->memory_bytes, image->section_align);
		if (!part->file_bytes)
			continue;
		if (part->offset % SECTOR || !range_fits(part->offset, part->file_bytes, image->map->size))
			return error_set(err, JW_ERR_UNSUPPORTED, "sections of an unknown alignment");
		if (part->offset + (uint64_t)part->file_bytes > ends.file)
			ends.file = part->offset + (uint64_t)part->file_bytes;
		if (part->offset < ends.first_file)
			ends.first_file = part->offset;
	}
	if (ends.memory != grow_aligned(image->image_bytes, image->section_align))
		return error_set(err, JW_ERR_UNSUPPORTED, "sections that do not fill the image");
	*ret_ends = ends;
	return 0;
}

/* Symbols, their names and certificates stay where they are. What else is behind the sections is
 * read by programs that look for it at the end of the file. */
static int check_overlay(struct jw_error *err, const struct pe_image *image, uint64_t end)
{
	const struct pe_range *certificates = &image->directories[CERTIFICATES];
	const uint64_t names = image->symbols_at + (uint64_t)image->symbols * SYMBOL;
	const struct os_map *map = image->map;

	if (image->symbols_at && range_fits(names, 4, map->size) &&
		range_fits(names, load_u32(map->data + names), map->size) &&
		image->symbols_at <= grow_aligned(end, SECTOR))
		end = names + load_u32(map->data + names) > end ? names + load_u32(map->data + names) : end;
	if (certificates->size_bytes && certificates->address >= end &&
		certificates->address - end < 8 &&
		range_fits(certificates->address, certificates->size_bytes, map->size))
		end = certificates->address + (uint64_t)certificates->size_bytes;
	for (uint64_t at = end; at < map->size; at++)
		if (map->data[at])
			return error_set(err, JW_ERR_UNSUPPORTED, "data after its sections");
	return 0;
}

/* ---- the room for one more section's header */

static bool is_unused(const struct pe_image *image, uint64_t at, uint64_t size_bytes)
{
	for (size_t i = 0; i < PE_DIRECTORIES; i++) {
		const struct pe_range *range = &image->directories[i];

		if (range->size_bytes && range->address < at + size_bytes &&
			at < range->address + (uint64_t)range->size_bytes)
			return false;
	}
	return true;
}

/* By how much the headers have to move: 0, or the size of one. */
static int find_header_room(struct jw_error *err, const struct pe_image *image, uint64_t limit,
							uint32_t *ret_shift)
{
	static const uint8_t zeros[PE_SECTION];
	const uint64_t end = image->sections_at + image->part_count * PE_SECTION;

	if (image->part_count < PE_MOST_SECTIONS && range_fits(end, PE_SECTION, limit) &&
		is_unused(image, end, PE_SECTION) && !memcmp(image->map->data + end, zeros, PE_SECTION)) {
		*ret_shift = 0;
		return 0;
	}
	if (image->part_count >= PE_MOST_SECTIONS || end > limit ||
		image->headers_at < DOS_HEADER + PE_SECTION ||
		!is_unused(image, DOS_HEADER, image->headers_at - DOS_HEADER))
		return error_set(err, JW_ERR_UNSUPPORTED, "no room for one more section's header");
	*ret_shift = PE_SECTION;
	return 0;
}

/* ---- opening */

static int place_section(struct jw_error *err, struct grow *grow)
{
	struct pe_image *image = &grow->pe;
	struct pe_ends ends;
	uint32_t shift;

	if (!is_power(image->section_align, PAGE, MOST_ALIGN) ||
		!is_power(image->file_align, SECTOR, image->section_align))
		return error_set(err, JW_ERR_UNSUPPORTED, "sections of an unknown alignment");
	if (follow_sections(err, image, &ends) || check_overlay(err, image, ends.file) ||
		find_header_room(err, image, ends.first_file, &shift))
		return -1;
	if (ends.memory > MOST_PE || grow->map->size > MOST_PE - image->file_align)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file would be larger than 2 GB");
	grow->align = image->section_align;
	grow->start = grow->end = grow_aligned(grow->map->size, image->file_align);
	grow->delta = image->base + ends.memory - grow->start;
	grow->most_end = MOST_PE - (ends.memory > grow->start ? ends.memory - grow->start : 0);
	grow->header_shift = shift;
	return 0;
}

static int open_pe(struct jw_error *err, const struct os_map *map,
				   const struct container_room *rooms, size_t count, struct grow *grow)
{
	if (pe_image_open(err, map, rooms, count, &grow->pe))
		return -1;
	grow->pointers = &grow->pe.pointers;
	return place_section(err, grow) || pe_image_pointers(err, &grow->pe) ? -1 : 0;
}

static void close_pe(struct grow *grow)
{
	pe_image_free(&grow->pe);
}

static int check_pe(struct jw_error *err, const struct os_map *map,
					const struct container_room *rooms, size_t count)
{
	struct jw_error why = {0};
	struct pe_image image;
	int result;

	if (pe_image_open(&why, map, rooms, count, &image))
		/* What is too much to look at is not sound for it. */
		return why.code == JW_ERR_MEMORY || why.code == JW_ERR_LIMIT ? error_copy(err, &why) : 0;
	result = pe_image_check(err, &image);
	pe_image_free(&image);
	return result;
}

static bool pe_address(const struct grow *grow, uint64_t offset, uint64_t size_bytes,
					   uint64_t *ret_address)
{
	if (!pe_image_address(&grow->pe, offset, size_bytes, ret_address))
		return false;
	*ret_address += grow->pe.base;
	return true;
}

/* ---- the headers */

static void name_section(const struct grow *grow, uint8_t header[PE_SECTION])
{
	const struct pe_image *image = &grow->pe;

	for (size_t i = 0; i < image->part_count; i++)
		if (grow->first_moved - image->parts[i].offset < image->parts[i].file_bytes)
			memcpy(header, grow->map->data + image->sections_at + i * PE_SECTION, 8);
}

static int write_headers(struct jw_error *err, const struct grow *grow, struct baked_copy *copy,
						 uint32_t file_bytes)
{
	const struct pe_image *image = &grow->pe;
	const uint32_t at = image->headers_at - grow->header_shift,
				   before = image->sections_at + (uint32_t)image->part_count * PE_SECTION -
							image->headers_at,
				   memory_bytes = (uint32_t)(grow->end - grow->start),
				   address = (uint32_t)(grow->start + grow->delta - image->base);
	uint8_t *headers = mem_alloc(err, before + PE_SECTION), *added, dos[4];
	int result;

	if (!headers)
		return -1;
	memcpy(headers, grow->map->data + image->headers_at, before);
	store_u16(headers + SECTIONS_AT, (uint16_t)(image->part_count + 1));
	store_u32(headers + DATA_SIZE_AT, load_u32(headers + DATA_SIZE_AT) + file_bytes);
	store_u32(headers + IMAGE_SIZE_AT,
			  (uint32_t)grow_aligned((uint64_t)address + memory_bytes, image->section_align));
	added = headers + before;
	name_section(grow, added);
	store_u32(added + 8, memory_bytes);
	store_u32(added + 12, address);
	store_u32(added + 16, file_bytes);
	store_u32(added + 20, (uint32_t)grow->start);
	store_u32(added + 36, READABLE_DATA);
	store_u32(dos, at);
	result = baked_copy_write(err, copy, at, headers, before + PE_SECTION) ||
			 baked_copy_write(err, copy, NEW_HEADERS_AT, dos, sizeof dos);
	mem_free(headers);
	return result ? -1 : 0;
}

static int finish_pe(struct jw_error *err, struct grow *grow, struct baked_copy *copy)
{
	static const uint8_t zeros[SECTOR];
	const uint64_t end = grow_aligned(grow->end, grow->pe.file_align);

	/* A section has all of its bytes in the file, also where its end is empty. */
	for (uint64_t at = grow->end; at < end; at += sizeof zeros)
		if (baked_copy_write(err, copy, at, zeros,
							 end - at < sizeof zeros ? (size_t)(end - at) : sizeof zeros))
			return -1;
	return write_headers(err, grow, copy, (uint32_t)(end - grow->start));
}

const struct grow_format grow_pe = {
	.check = check_pe,
	.open = open_pe,
	.address = pe_address,
	.finish = finish_pe,
	.close = close_pe,
};
