/* A longer copy of an ELF file. Source: System V ABI, chapters 4 and 5, and docs/internals/bake.md.
 * The new places are in a segment at the end of the file, after a copy of the program headers with
 * one more. */
#include "bake/grow.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "code/container.h"

enum {
	MAX_FREE = 1 << 20,
	PAGE = 1 << 12,
	LARGE_PAGE = 1 << 16, /* the largest page of arm64 */
	MAX_HOLE = 1 << 30,
	MAX_PADDING = 1 << 20, /* zeros after the last section; a sparse file has any number of them */
	FEW_SECTIONS = 0xff00, /* from this number on, e_shnum is stored elsewhere */
	MACHINE_ARM_64 = 183,
	SECTION_DATA = 1, /* SHT_PROGBITS */
	HEADERS_ALIGN = 16,
	PHOFF_AT = 32, /* the place in the file's header */
	SHOFF_AT = 40,
	PHNUM_AT = 56,
	SHNUM_AT = 60,
};

static uint64_t grow_aligned(uint64_t at, uint64_t multiple)
{
	return (at + multiple - 1) / multiple * multiple;
}

static bool is_program(const struct elf_view *view)
{
	bool interpreter = view->elf.type == ELF64_EXEC;

	for (size_t i = 0; i < view->elf.phnum; i++)
		interpreter = interpreter || view->segments[i].type == ELF64_PT_INTERP;
	return interpreter;
}

static void note_end(const struct elf_view *view, uint64_t offset, uint64_t size_bytes,
					 uint64_t *end)
{
	if (range_fits(offset, size_bytes, view->map->size) && offset + size_bytes > *end)
		*end = offset + size_bytes;
}

/* Refuses appended data: programs that unpack themselves, and readers of archives, look for it at
 * the end of the file. */
static int check_appended(struct jw_error *err, const struct elf_view *view)
{
	const struct elf64_header *elf = &view->elf;
	uint64_t end = 0;

	note_end(view, elf->phoff, (uint64_t)elf->phnum * ELF64_PHDR_SIZE, &end);
	for (size_t i = 0; i < elf->phnum; i++)
		note_end(view, view->segments[i].offset, view->segments[i].file_bytes, &end);
	if (elf->shoff)
		note_end(view, elf->shoff, (uint64_t)elf->shnum * ELF64_SHDR_SIZE, &end);
	for (size_t i = 0; elf->shoff && i < elf->shnum; i++) {
		struct elf64_section section;

		elf64_section_read(view->map->data + elf->shoff + i * ELF64_SHDR_SIZE, &section);
		if (section.type != ELF64_SHT_NOBITS)
			note_end(view, section.offset, section.size_bytes, &end);
	}
	for (uint64_t at = end; at < view->map->size; at++)
		if (at - end == MAX_PADDING || view->map->data[at])
			return error_set(err, JW_ERR_UNSUPPORTED, "data after its sections");
	return 0;
}

/* Finds the file offset and the address of the new segment, after all others; refuses files whose
 * segments do not allow one. */
static int place_segment(struct jw_error *err, struct grow *grow)
{
	const struct elf_view *view = &grow->elf;
	const struct elf64_segment *first = NULL;
	uint64_t memory_end = 0;

	if (view->elf.phnum == ELF_MAX_SEGMENTS)
		return error_set(err, JW_ERR_LIMIT, "%d program headers already", ELF_MAX_SEGMENTS);
	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment *segment = &view->segments[i];

		if (segment->type != ELF64_PT_LOAD)
			continue;
		if (segment->address > INT64_MAX || segment->memory_bytes > INT64_MAX ||
			segment->address + segment->memory_bytes < memory_end)
			return error_set(err, JW_ERR_FORMAT, "segments that are out of order");
		/* The loader maps the rest of the segment over the bytes after it. */
		if (segment->file_bytes > segment->memory_bytes)
			return error_set(err, JW_ERR_FORMAT,
							 "a segment that is longer in the file than in memory");
		memory_end = segment->address + segment->memory_bytes;
		first = first ? first : segment;
	}
	if (!first || memory_end > INT64_MAX - MAX_HOLE || view->map->size > INT64_MAX - MAX_HOLE)
		return error_set(err, JW_ERR_FORMAT, "no segments");
	grow->start = grow_aligned(view->map->size, grow->align);
	grow->delta = grow_aligned(memory_end, grow->align) - grow->start;
	/* Kernels before 5.18 compute the address of a program's headers from its first segment, so the
	 * new segment has the same distance. */
	if (is_program(view)) {
		grow->delta = first->address - first->offset;
		if (grow->delta % grow->align || grow->delta > memory_end)
			return error_set(err, JW_ERR_UNSUPPORTED,
							 "the library has segments of another page size");
		if (grow->start < grow_aligned(memory_end - grow->delta, grow->align))
			grow->start = grow_aligned(memory_end - grow->delta, grow->align);
	}
	if (grow->start - view->map->size > MAX_HOLE)
		return error_set(err, JW_ERR_UNSUPPORTED, "more than a gigabyte without content");
	grow->end = grow_aligned(grow->start + (view->elf.phnum + 1U) * ELF64_PHDR_SIZE, HEADERS_ALIGN);
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

int grow_open(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			  size_t count, struct grow **ret_grow)
{
	struct grow *grow = mem_alloc(sizeof *grow);

	grow->map = map;
	if (elf_view_open(err, map, rooms, count, &grow->elf))
		goto fail;
	grow->align = grow->elf.elf.machine == MACHINE_ARM_64 ? LARGE_PAGE : PAGE;
	if (check_section_headers(err, &grow->elf) || check_appended(err, &grow->elf) ||
		place_segment(err, grow) || elf_view_references(err, &grow->elf))
		goto fail;
	*ret_grow = grow;
	return 0;
fail:
	grow_free(grow);
	return -1;
}

int grow_check(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			   size_t count)
{
	struct jw_error why = {0};
	struct elf_view view;
	int result;

	if (elf_view_open(&why, map, rooms, count, &view))
		/* A file that is too large to check is not sound for this purpose. */
		return why.code == JW_ERR_LIMIT ? error_copy(err, &why) : 0;
	result = elf_view_check(err, &view);
	elf_view_free(&view);
	return result;
}

void grow_free(struct grow *grow)
{
	if (!grow)
		return;
	elf_view_free(&grow->elf);
	mem_free(grow->free);
	mem_free(grow);
}

int grow_may_move(struct jw_error *err, const struct grow *grow, const struct container_room *room)
{
	uint64_t address;

	if (!room_pointers_only_wrappers(&grow->elf.pointers, room) ||
		!elf_view_address(&grow->elf, room->offset, room->size_bytes, &address))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "another pointer than the container's wrapper points to the container");
	return 0;
}

/* Takes a former room, or the end of the new segment. */
static uint64_t take_free_place(struct grow *grow, size_t size, uint64_t *ret_address)
{
	uint64_t at;

	for (size_t i = 0; i < grow->free_count; i++) {
		struct container_room *room = &grow->free[i];

		if (room->size_bytes < size ||
			!elf_view_address(&grow->elf, room->offset, size, ret_address))
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

/* Frees a room, whose bytes stay until grow_finish, because written bytes are compared with the
 * original. */
static int free_room(struct jw_error *err, struct grow *grow, const struct container_room *room)
{
	struct container_room *last = grow->free_count ? &grow->free[grow->free_count - 1] : NULL;

	if (last && last->offset + last->size_bytes == room->offset) {
		last->size_bytes += room->size_bytes;
		return 0;
	}
	if (VEC_ROOM(err, grow->free, grow->free_capacity, grow->free_count, MAX_FREE))
		return -1;
	grow->free[grow->free_count++] = *room;
	return 0;
}

/* Writes a pointer. The relocation has its value; the bytes at its place count if a library was
 * prelinked. */
static int point_to(struct jw_error *err, const struct grow *grow, struct baked_copy *copy,
					const struct room_pointer *reference, uint64_t before, uint64_t address)
{
	uint8_t value[8];

	store_u64(value, address);
	if (reference->addend_at &&
		baked_copy_write(err, copy, reference->addend_at, value, sizeof value))
		return -1;
	if (load_u64(grow->map->data + reference->pointer_at) != before)
		return 0;
	return baked_copy_write(err, copy, reference->pointer_at, value, sizeof value);
}

int grow_move(struct jw_error *err, struct grow *grow, struct baked_copy *copy,
			  const struct container_room *room, const void *bytes, size_t size)
{
	const size_t padded = (size_t)grow_aligned(size, CONTAINER_ALIGN);
	uint64_t address, before, at;

	if (!elf_view_address(&grow->elf, room->offset, room->size_bytes, &before))
		return error_set(err, JW_ERR_FORMAT, "a container outside of all segments");
	if (free_room(err, grow, room))
		return -1;
	at = take_free_place(grow, padded, &address);
	if (baked_copy_write(err, copy, at, bytes, size))
		return -1;
	for (size_t i = room_pointers_first(&grow->elf.pointers, room->offset);
		 i < grow->elf.pointers.count && grow->elf.pointers.items[i].target == room->offset; i++)
		if (point_to(err, grow, copy, &grow->elf.pointers.items[i], before, address))
			return -1;
	if (!grow->moved++)
		grow->first_moved = room->offset;
	return 0;
}

static int write_segments(struct jw_error *err, const struct grow *grow, struct baked_copy *copy)
{
	const struct elf_view *view = &grow->elf;
	const size_t count = view->elf.phnum + 1U, size = count * ELF64_PHDR_SIZE;
	const struct elf64_segment added = {
		.type = ELF64_PT_LOAD,
		.flags = ELF64_PF_R,
		.offset = grow->start,
		.address = grow->start + grow->delta,
		.file_bytes = grow->end - grow->start,
		.memory_bytes = grow->end - grow->start,
		.align = grow->align,
	};
	uint8_t *table = mem_alloc(size);
	size_t last = 0, to = 0;
	int result;

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

/* Returns the name of the section where the containers were, so that readers find the new places
 * like the others. */
static uint32_t name_of_added(const struct grow *grow)
{
	const struct elf_view *view = &grow->elf;

	for (size_t i = 0; i < view->elf.shnum; i++) {
		struct elf64_section section;

		elf64_section_read(view->map->data + view->elf.shoff + i * ELF64_SHDR_SIZE, &section);
		if (section.type == SECTION_DATA && section.offset <= grow->first_moved &&
			grow->first_moved - section.offset < section.size_bytes)
			return section.name;
	}
	return 0;
}

static int write_sections(struct jw_error *err, const struct grow *grow, struct baked_copy *copy,
						  uint64_t at)
{
	const struct elf_view *view = &grow->elf;
	const size_t size = (size_t)view->elf.shnum * ELF64_SHDR_SIZE;
	const uint64_t first =
		grow_aligned(grow->start + (view->elf.phnum + 1U) * ELF64_PHDR_SIZE, HEADERS_ALIGN);
	uint8_t added[ELF64_SHDR_SIZE] = {0};

	store_u32(added, name_of_added(grow));
	store_u32(added + 4, SECTION_DATA);
	store_u64(added + 8, ELF64_SHF_ALLOC);
	store_u64(added + 16, first + grow->delta);
	store_u64(added + 24, first);
	store_u64(added + 32, grow->end - first);
	store_u64(added + 48, CONTAINER_ALIGN);
	if (baked_copy_write(err, copy, at, view->map->data + view->elf.shoff, size))
		return -1;
	return baked_copy_write(err, copy, at + size, added, sizeof added);
}

int grow_finish(struct jw_error *err, struct grow *grow, struct baked_copy *copy)
{
	const struct elf64_header *elf = &grow->elf.elf;
	const uint64_t sections_at = grow_aligned(grow->end, HEADERS_ALIGN);
	uint8_t header[ELF64_EHDR_SIZE];

	if (!grow->moved)
		return 0;
	for (size_t i = 0; i < grow->free_count; i++)
		if (baked_copy_clear(err, copy, grow->free[i].offset, grow->free[i].size_bytes))
			return -1;
	memcpy(header, grow->map->data, sizeof header);
	store_u64(header + PHOFF_AT, grow->start);
	store_u16(header + PHNUM_AT, (uint16_t)(elf->phnum + 1));
	if (elf->shoff) {
		store_u64(header + SHOFF_AT, sections_at);
		store_u16(header + SHNUM_AT, (uint16_t)(elf->shnum + 1));
		if (write_sections(err, grow, copy, sections_at))
			return -1;
	}
	if (write_segments(err, grow, copy))
		return -1;
	return baked_copy_write(err, copy, 0, header, sizeof header);
}
