#include "bake/elf_grow.h"

#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "devcode/container.h"

enum {
	PAGE = 1 << 12,
	LARGE_PAGE = 1 << 16, /* the largest of arm64 */
	MOST_HOLE = 1 << 30,
	MOST_FREE = 1 << 20,
	FEW_SECTIONS = 0xff00, /* e_shnum from there on is elsewhere */
	MACHINE_ARM_64 = 183,
	SECTION_DATA = 1, /* SHT_PROGBITS */
	HEADERS_ALIGN = 16,
	PHOFF_AT = 32, /* in the file's header */
	SHOFF_AT = 40,
	PHNUM_AT = 56,
	SHNUM_AT = 60,
};

struct elf_grow {
	struct elf_view view;
	uint64_t page;
	uint64_t start, end;        /* of the new segment, in the file */
	uint64_t delta;             /* its address, less its place in the file */
	struct elf_grow_room *free; /* former rooms; the last one may still become larger */
	size_t free_count, free_capacity;
	size_t moved;
	uint64_t first_moved; /* where it was */
};

static uint64_t aligned(uint64_t at, uint64_t multiple)
{
	return (at + multiple - 1) / multiple * multiple;
}

/* ---- where the new segment goes */

/* Kernels before 5.18 compute the address of a program's headers from its first segment: there the
 * new one has the same distance. */
static bool needs_same_distance(const struct elf_view *view)
{
	bool interpreter = view->elf.type == ELF64_EXEC;

	for (size_t i = 0; i < view->elf.phnum; i++)
		interpreter = interpreter || view->segments[i].type == ELF64_PT_INTERP;
	return interpreter;
}

static int place_segment(struct jw_error *err, struct elf_grow *grow)
{
	const struct elf_view *view = &grow->view;
	const struct elf64_segment *first = NULL;
	uint64_t memory_end = 0;

	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment *segment = &view->segments[i];

		if (segment->type != ELF64_PT_LOAD)
			continue;
		if (segment->address > INT64_MAX || segment->memory_bytes > INT64_MAX ||
			segment->address + segment->memory_bytes < memory_end)
			return error_set(err, JW_ERR_FORMAT, "segments that are out of order");
		memory_end = segment->address + segment->memory_bytes;
		first = first ? first : segment;
	}
	if (!first || memory_end > INT64_MAX - MOST_HOLE || view->map->size > INT64_MAX - MOST_HOLE)
		return error_set(err, JW_ERR_FORMAT, "no segments");
	grow->start = aligned(view->map->size, grow->page);
	grow->delta = aligned(memory_end, grow->page) - grow->start;
	if (needs_same_distance(view)) {
		grow->delta = first->address - first->offset;
		if (grow->delta % grow->page || grow->delta > memory_end)
			return error_set(err, JW_ERR_UNSUPPORTED, "segments of another page size");
		if (grow->start < aligned(memory_end - grow->delta, grow->page))
			grow->start = aligned(memory_end - grow->delta, grow->page);
	}
	if (grow->start - view->map->size > MOST_HOLE)
		return error_set(err, JW_ERR_UNSUPPORTED, "more than a gigabyte without content");
	grow->end = aligned(grow->start + (view->elf.phnum + 1U) * ELF64_PHDR_SIZE, HEADERS_ALIGN);
	return 0;
}

static int check_section_headers(struct jw_error *err, const struct elf_view *view)
{
	const struct elf64_header *elf = &view->elf;

	if (!elf->shoff)
		return 0;
	if (elf->shentsize != ELF64_SHDR_SIZE || !elf->shnum || elf->shnum + 1 >= FEW_SECTIONS ||
		!range_fits(elf->shoff, (uint64_t)elf->shnum * ELF64_SHDR_SIZE, view->map->size))
		return error_set(err, JW_ERR_UNSUPPORTED, "section headers that cannot be moved");
	return 0;
}

int elf_grow_open(struct jw_error *err, const struct os_map *map, const struct elf_grow_room *rooms,
				  size_t count, struct elf_grow **ret_grow)
{
	struct elf_grow *grow = mem_alloc(err, sizeof *grow);

	if (!grow)
		return -1;
	if (elf_view_open(err, map, rooms, count, &grow->view))
		goto failed;
	grow->page = grow->view.elf.machine == MACHINE_ARM_64 ? LARGE_PAGE : PAGE;
	if (check_section_headers(err, &grow->view) || place_segment(err, grow) ||
		elf_view_references(err, &grow->view))
		goto failed;
	*ret_grow = grow;
	return 0;
failed:
	elf_grow_free(grow);
	return -1;
}

void elf_grow_free(struct elf_grow *grow)
{
	if (!grow)
		return;
	elf_view_free(&grow->view);
	mem_free(grow->free);
	mem_free(grow);
}

/* ---- the containers */

/* The first pointer into the container. */
static size_t first_reference(const struct elf_grow *grow, uint64_t offset)
{
	size_t low = 0, high = grow->view.reference_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (grow->view.references[middle].target < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool elf_grow_may_move(const struct elf_grow *grow, const struct elf_grow_room *room)
{
	const size_t first = first_reference(grow, room->offset);
	uint64_t address;
	size_t i = first;

	for (; i < grow->view.reference_count &&
		   grow->view.references[i].target - room->offset < room->size_bytes;
		 i++)
		if (!grow->view.references[i].wrapper || grow->view.references[i].target != room->offset)
			return false;
	return i > first && elf_view_address(&grow->view, room->offset, room->size_bytes, &address);
}

/* A former room, or the end of the new segment. */
static uint64_t take_free_place(struct elf_grow *grow, size_t size, uint64_t *ret_address)
{
	uint64_t at;

	for (size_t i = 0; i < grow->free_count; i++) {
		struct elf_grow_room *room = &grow->free[i];

		if (room->size_bytes < size ||
			!elf_view_address(&grow->view, room->offset, size, ret_address))
			continue;
		at = room->offset;
		room->offset += size;
		room->size_bytes -= size;
		return at;
	}
	at = grow->end;
	grow->end += size;
	*ret_address = at + grow->delta;
	return at;
}

/* It stays as it is until elf_grow_finish: what is written is compared with the original. */
static int free_room(struct jw_error *err, struct elf_grow *grow, const struct elf_grow_room *room)
{
	struct elf_grow_room *last = grow->free_count ? &grow->free[grow->free_count - 1] : NULL;

	if (last && last->offset + last->size_bytes == room->offset) {
		last->size_bytes += room->size_bytes;
		return 0;
	}
	if (VEC_ROOM(err, grow->free, grow->free_capacity, grow->free_count, MOST_FREE))
		return -1;
	grow->free[grow->free_count++] = *room;
	return 0;
}

/* The relocation gives the pointer's value; what is in place counts where a library was prelinked.
 */
static int point_to(struct jw_error *err, const struct elf_grow *grow, struct baked_copy *copy,
					const struct elf_reference *reference, uint64_t before, uint64_t address)
{
	uint8_t value[8];

	store_u64(value, address);
	if (reference->addend_at &&
		baked_copy_write(err, copy, reference->addend_at, value, sizeof value))
		return -1;
	return load_u64(grow->view.map->data + reference->pointer_at) == before
			   ? baked_copy_write(err, copy, reference->pointer_at, value, sizeof value)
			   : 0;
}

int elf_grow_move(struct jw_error *err, struct elf_grow *grow, struct baked_copy *copy,
				  const struct elf_grow_room *room, const void *bytes, size_t size)
{
	const size_t padded = (size_t)aligned(size, CONTAINER_ALIGN);
	uint64_t address, before, at;

	if (!elf_view_address(&grow->view, room->offset, room->size_bytes, &before))
		return error_set(err, JW_ERR_FORMAT, "a container outside of all segments");
	if (free_room(err, grow, room))
		return -1;
	at = take_free_place(grow, padded, &address);
	if (baked_copy_write(err, copy, at, bytes, size))
		return -1;
	for (size_t i = first_reference(grow, room->offset);
		 i < grow->view.reference_count && grow->view.references[i].target == room->offset; i++)
		if (point_to(err, grow, copy, &grow->view.references[i], before, address))
			return -1;
	if (!grow->moved++)
		grow->first_moved = room->offset;
	return 0;
}

/* ---- the headers */

static int clear_free_rooms(struct jw_error *err, const struct elf_grow *grow,
							struct baked_copy *copy)
{
	static const uint8_t zeros[1 << 16];

	for (size_t i = 0; i < grow->free_count; i++) {
		const struct elf_grow_room *room = &grow->free[i];

		for (uint64_t done = 0; done < room->size_bytes; done += sizeof zeros) {
			const uint64_t left = room->size_bytes - done;

			if (baked_copy_write(err, copy, room->offset + done, zeros,
								 left < sizeof zeros ? (size_t)left : sizeof zeros))
				return -1;
		}
	}
	return 0;
}

static int write_segments(struct jw_error *err, const struct elf_grow *grow,
						  struct baked_copy *copy)
{
	const struct elf_view *view = &grow->view;
	const size_t count = view->elf.phnum + 1U, size = count * ELF64_PHDR_SIZE;
	const struct elf64_segment added = {
		.type = ELF64_PT_LOAD,
		.flags = ELF64_PF_R,
		.offset = grow->start,
		.address = grow->start + grow->delta,
		.file_bytes = grow->end - grow->start,
		.memory_bytes = grow->end - grow->start,
		.align = grow->page,
	};
	uint8_t *table = mem_alloc(err, size);
	size_t last = 0, to = 0;
	int result;

	if (!table)
		return -1;
	for (size_t i = 0; i < view->elf.phnum; i++)
		last = view->segments[i].type == ELF64_PT_LOAD ? i : last;
	for (size_t i = 0; i < view->elf.phnum; i++) {
		struct elf64_segment segment = view->segments[i];
		uint8_t *place = table + to++ * ELF64_PHDR_SIZE;

		memcpy(place, view->map->data + view->elf.phoff + i * ELF64_PHDR_SIZE, ELF64_PHDR_SIZE);
		if (segment.type == ELF64_PT_PHDR) {
			segment.offset = grow->start;
			segment.address = added.address;
			segment.file_bytes = segment.memory_bytes = size;
			elf64_segment_write(place, &segment);
		}
		if (i == last)
			elf64_segment_write(table + to++ * ELF64_PHDR_SIZE, &added);
	}
	result = baked_copy_write(err, copy, grow->start, table, size);
	mem_free(table);
	return result;
}

/* The name of the section where the containers were: readers find the new places like the others.
 */
static uint32_t name_of_added(const struct elf_grow *grow)
{
	const struct elf_view *view = &grow->view;

	for (size_t i = 0; i < view->elf.shnum; i++) {
		struct elf64_section section;

		elf64_section_read(view->map->data + view->elf.shoff + i * ELF64_SHDR_SIZE, &section);
		if (section.type == SECTION_DATA && section.offset <= grow->first_moved &&
			grow->first_moved - section.offset < section.size_bytes)
			return section.name;
	}
	return 0;
}

static int write_sections(struct jw_error *err, const struct elf_grow *grow,
						  struct baked_copy *copy, uint64_t at)
{
	const struct elf_view *view = &grow->view;
	const size_t size = (size_t)view->elf.shnum * ELF64_SHDR_SIZE;
	const uint64_t first =
		aligned(grow->start + (view->elf.phnum + 1U) * ELF64_PHDR_SIZE, HEADERS_ALIGN);
	uint8_t added[ELF64_SHDR_SIZE] = {0};

	store_u32(added, name_of_added(grow));
	store_u32(added + 4, SECTION_DATA);
	store_u64(added + 8, ELF64_SHF_ALLOC);
	store_u64(added + 16, first + grow->delta);
	store_u64(added + 24, first);
	store_u64(added + 32, grow->end - first);
	store_u64(added + 48, CONTAINER_ALIGN);
	return baked_copy_write(err, copy, at, view->map->data + view->elf.shoff, size) ||
				   baked_copy_write(err, copy, at + size, added, sizeof added)
			   ? -1
			   : 0;
}

int elf_grow_finish(struct jw_error *err, struct elf_grow *grow, struct baked_copy *copy)
{
	const struct elf64_header *elf = &grow->view.elf;
	uint8_t header[ELF64_EHDR_SIZE];
	const uint64_t sections_at = aligned(grow->end, HEADERS_ALIGN);

	if (!grow->moved)
		return 0;
	memcpy(header, grow->view.map->data, sizeof header);
	store_u64(header + PHOFF_AT, grow->start);
	store_u16(header + PHNUM_AT, (uint16_t)(elf->phnum + 1));
	if (elf->shoff) {
		store_u64(header + SHOFF_AT, sections_at);
		store_u16(header + SHNUM_AT, (uint16_t)(elf->shnum + 1));
		if (write_sections(err, grow, copy, sections_at))
			return -1;
	}
	return clear_free_rooms(err, grow, copy) || write_segments(err, grow, copy) ||
				   baked_copy_write(err, copy, 0, header, sizeof header)
			   ? -1
			   : 0;
}
