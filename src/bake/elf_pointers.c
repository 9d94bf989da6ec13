#include "bake/elf_pointers.h"

#include "base/cursor.h"
#include "base/mem.h"
#include "code/sections.h"

enum {
	DYNAMIC_SIZE = 16,
	RELOCATION_SIZE = 24,
	RELR_SIZE = 8,
	RELR_BITS = 63,
	SEGMENT_SLACK = 1 << 12, /* how much of a file two segments may share: a page */
	MACHINE_AMD64 = 62,
	MACHINE_ARM64 = 183,
};

/* The tags of the dynamic section. */
enum {
	TAG_NULL,
	TAG_HASH = 4,
	TAG_STRTAB = 5,
	TAG_SYMTAB = 6,
	TAG_RELA = 7,
	TAG_RELASZ = 8,
	TAG_STRSZ = 10,
	TAG_JMPREL = 23,
	TAG_PLTRELSZ = 2,
	TAG_INIT_ARRAY = 25,
	TAG_INIT_ARRAYSZ = 27,
	TAG_RELRSZ = 35,
	TAG_RELR = 36,
	TAG_COUNT = 40,
	TAG_GNU_HASH = 0x6ffffef5,
	TAG_VERSYM = 0x6ffffff0,
	TAG_VERNEED = 0x6ffffffe,
};

/* A table of the dynamic section, by the tags of its address and of its size; 0 for the file's
 * beginning. */
static const struct loader_table {
	uint32_t address, size;
} loader_tables[] = {
	{TAG_RELA, TAG_RELASZ},  {TAG_RELR, TAG_RELRSZ},
	{TAG_STRTAB, TAG_STRSZ}, {TAG_JMPREL, TAG_PLTRELSZ},
	{TAG_SYMTAB, 0},         {TAG_HASH, 0},
	{TAG_GNU_HASH, 0},       {TAG_VERSYM, 0},
	{TAG_VERNEED, 0},        {TAG_INIT_ARRAY, TAG_INIT_ARRAYSZ},
};
enum { LEAST_TABLE = 24 };

static bool find_offset(const struct elf_view *view, uint64_t address, uint64_t size_bytes,
						uint64_t *ret_offset)
{
	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment *segment = &view->segments[i];

		if (segment->type != ELF64_PT_LOAD || address < segment->address ||
			!range_fits(address - segment->address, size_bytes, segment->file_bytes))
			continue;
		*ret_offset = segment->offset + (address - segment->address);
		return range_fits(*ret_offset, size_bytes, view->map->size);
	}
	return false;
}

bool elf_view_address(const struct elf_view *view, uint64_t offset, uint64_t size_bytes,
					  uint64_t *ret_address)
{
	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment *segment = &view->segments[i];

		if (segment->type != ELF64_PT_LOAD || offset < segment->offset ||
			!range_fits(offset - segment->offset, size_bytes, segment->file_bytes))
			continue;
		*ret_address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

struct dynamic_tags {
	const uint8_t *bytes;
	uint64_t size_bytes;
};

static bool find_tag(const struct dynamic_tags *tags, uint64_t tag, uint64_t *ret_value)
{
	for (uint64_t at = 0; at + DYNAMIC_SIZE <= tags->size_bytes; at += DYNAMIC_SIZE) {
		const uint64_t found = load_u64(tags->bytes + at);

		if (found == TAG_NULL)
			break;
		if (found != tag)
			continue;
		*ret_value = load_u64(tags->bytes + at + 8);
		return true;
	}
	return false;
}

/* Finds a table in the file; false if there is none, or it is not in the file. */
static bool find_table(const struct elf_view *view, const struct dynamic_tags *tags,
					   const struct loader_table *table, struct container_room *ret_place)
{
	uint64_t address, size = LEAST_TABLE;

	if (!find_tag(tags, table->address, &address))
		return false;
	if (table->size && !find_tag(tags, table->size, &size))
		return false;
	ret_place->size_bytes = size;
	return find_offset(view, address, size, &ret_place->offset);
}

static bool find_dynamic(const struct elf_view *view, struct dynamic_tags *ret_tags)
{
	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment *segment = &view->segments[i];

		if (segment->type != ELF64_PT_DYNAMIC ||
			!range_fits(segment->offset, segment->file_bytes, view->map->size))
			continue;
		*ret_tags = (struct dynamic_tags){view->map->data + segment->offset, segment->file_bytes};
		return true;
	}
	return false;
}

static int read_segments(struct jw_error *err, struct elf_view *view)
{
	const struct os_map *map = view->map;
	const struct elf64_header *elf = &view->elf;

	if (!elf64_header_read(map->data, map->size, &view->elf) || elf->class != ELF64_CLASS ||
		elf->order != ELF64_LITTLE || (elf->type != ELF64_DYN && elf->type != ELF64_EXEC) ||
		(elf->machine != MACHINE_AMD64 && elf->machine != MACHINE_ARM64))
		return error_set(err, JW_ERR_UNSUPPORTED, "not a 64-bit ELF program or library");
	if (elf->phentsize != ELF64_PHDR_SIZE || !elf->phnum ||
		!range_fits(elf->phoff, (uint64_t)elf->phnum * ELF64_PHDR_SIZE, map->size))
		return error_set(err, JW_ERR_FORMAT, "no program headers");
	if (elf->phnum > ELF_MAX_SEGMENTS)
		return error_set(err, JW_ERR_LIMIT, "more than %d program headers", ELF_MAX_SEGMENTS);
	view->segments = mem_array(elf->phnum, sizeof *view->segments);
	for (size_t i = 0; i < elf->phnum; i++)
		elf64_segment_read(map->data + elf->phoff + i * ELF64_PHDR_SIZE, &view->segments[i]);
	return 0;
}

int elf_view_check(struct jw_error *err, const struct elf_view *view)
{
	struct dynamic_tags tags = {0};
	struct container_room place;
	bool touched = room_pointers_touch(&view->pointers, 0, ELF64_EHDR_SIZE) ||
				   room_pointers_touch(&view->pointers, view->elf.phoff,
									   (uint64_t)view->elf.phnum * ELF64_PHDR_SIZE);

	for (size_t i = 0; i < view->elf.phnum; i++)
		if (view->segments[i].type != ELF64_PT_LOAD && view->segments[i].file_bytes &&
			range_fits(view->segments[i].offset, view->segments[i].file_bytes, view->map->size))
			touched = touched || room_pointers_touch(&view->pointers, view->segments[i].offset,
													 view->segments[i].file_bytes);
	if (find_dynamic(view, &tags))
		for (size_t i = 0; i < sizeof loader_tables / sizeof *loader_tables; i++)
			if (find_table(view, &tags, &loader_tables[i], &place) && place.size_bytes)
				touched =
					touched || room_pointers_touch(&view->pointers, place.offset, place.size_bytes);
	return touched ? error_set(err, JW_ERR_FORMAT, "a container overlaps what the loader reads")
				   : 0;
}

int elf_view_open(struct jw_error *err, const struct os_map *map,
				  const struct container_room *rooms, size_t count, struct elf_view *ret_view)
{
	struct elf_view view = {.map = map,
							.pointers = {.map = map, .rooms = rooms, .room_count = count}};

	if (read_segments(err, &view)) {
		elf_view_free(&view);
		return -1;
	}
	*ret_view = view;
	return 0;
}

void elf_view_free(struct elf_view *view)
{
	mem_free(view->segments);
	room_pointers_free(&view->pointers);
	*view = (struct elf_view){0};
}

/* Checks that segments are sorted by address, as a loader requires; their sizes bound the number of
 * pointers. */
static int check_loads(struct jw_error *err, const struct elf_view *view)
{
	uint64_t left = view->map->size + (uint64_t)view->elf.phnum * SEGMENT_SLACK, end = 0;

	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment *segment = &view->segments[i];

		if (segment->type != ELF64_PT_LOAD || !segment->file_bytes)
			continue;
		if (segment->address < end || segment->file_bytes > UINT64_MAX - segment->address ||
			segment->file_bytes > left)
			return error_set(err, JW_ERR_FORMAT, "its segments overlap");
		left -= segment->file_bytes;
		end = segment->address + segment->file_bytes;
	}
	return 0;
}

/* Records a pointer whose value is an address in a container. */
static int note_pointer(struct jw_error *err, struct elf_view *view, uint64_t address,
						uint64_t value, uint64_t addend_at)
{
	uint64_t target, pointer_at;

	if (!find_offset(view, value, 1, &target) || !room_pointers_hold(&view->pointers, target) ||
		!find_offset(view, address, 8, &pointer_at))
		return 0;
	return room_pointers_note(err, &view->pointers, target, pointer_at, addend_at);
}

static int read_relocations(struct jw_error *err, struct elf_view *view,
							const struct container_room *table)
{
	const uint64_t relative = view->elf.machine == MACHINE_ARM64 ? 1027 : 8;

	for (uint64_t at = 0; at + RELOCATION_SIZE <= table->size_bytes; at += RELOCATION_SIZE) {
		const uint8_t *rela = view->map->data + table->offset + at;

		if (load_u64(rela + 8) == relative &&
			note_pointer(err, view, load_u64(rela), load_u64(rela + 16), table->offset + at + 16))
			return -1;
	}
	return 0;
}

static int note_pointer_in_place(struct jw_error *err, struct elf_view *view, uint64_t address)
{
	uint64_t offset;

	if (!find_offset(view, address, 8, &offset))
		return 0;
	return note_pointer(err, view, address, load_u64(view->map->data + offset), 0);
}

/* Reads packed relocations. An even word is an address; the bits of an odd one say which of the
 * next 63 words are pointers, too. Each pointer has 8 bytes of the file. */
static int read_packed_relocations(struct jw_error *err, struct elf_view *view,
								   const struct container_room *table)
{
	uint64_t next = 0, left = view->map->size / 8;

	for (uint64_t at = 0; at + RELR_SIZE <= table->size_bytes; at += RELR_SIZE) {
		const uint64_t word = load_u64(view->map->data + table->offset + at);
		const bool is_address = !(word & 1);
		uint64_t bits = is_address ? 1 : word >> 1;

		next = is_address ? word : next;
		for (uint64_t address = next; bits; bits >>= 1, address += 8) {
			if (!(bits & 1))
				continue;
			if (!left--)
				return error_set(err, JW_ERR_FORMAT, "more relocations than the file has room for");
			if (note_pointer_in_place(err, view, address))
				return -1;
		}
		next += is_address ? 8 : RELR_BITS * 8;
	}
	return 0;
}

/* Reads the pointers of a program at a fixed address, which are in its variables. */
static int read_fixed_pointers(struct jw_error *err, struct elf_view *view)
{
	for (size_t i = 0; i < view->elf.phnum; i++) {
		const struct elf64_segment segment = view->segments[i];

		if (segment.type != ELF64_PT_LOAD || !(segment.flags & ELF64_PF_W) ||
			!range_fits(segment.offset, segment.file_bytes, view->map->size))
			continue;
		for (uint64_t at = 0; at + 8 <= segment.file_bytes; at += 8)
			if (note_pointer_in_place(err, view, segment.address + at))
				return -1;
	}
	return 0;
}

int elf_view_references(struct jw_error *err, struct elf_view *view)
{
	struct dynamic_tags tags = {0};
	struct container_room table;

	if (check_loads(err, view))
		return -1;
	if (find_dynamic(view, &tags)) {
		if (find_table(view, &tags, &loader_tables[0], &table) &&
			read_relocations(err, view, &table))
			return -1;
		if (find_table(view, &tags, &loader_tables[1], &table) &&
			read_packed_relocations(err, view, &table))
			return -1;
	}
	if (view->elf.type == ELF64_EXEC && read_fixed_pointers(err, view))
		return -1;
	room_pointers_sort(&view->pointers);
	return 0;
}
