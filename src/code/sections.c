#include "code/sections.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"

/* PE truncates names to eight characters. */
static const struct {
	const char *name;
	enum devcode_role role;
	bool wrappers;
} known[] = {
	{".nv_fatbin", DEVCODE_REGISTERED, false},      {".nv_fatb", DEVCODE_REGISTERED, false},
	{"__nv_relfatbin", DEVCODE_RELOCATABLE, false}, {"__nv_rel", DEVCODE_RELOCATABLE, false},
	{".nvFatBinSegment", DEVCODE_LOOSE, true},      {".nvFatBi", DEVCODE_LOOSE, true},
};

void sections_add(struct section_table *table, const char *name, size_t name_size, uint64_t offset,
				  uint64_t size_bytes, uint64_t address)
{
	struct section section = {.offset = offset, .size_bytes = size_bytes, .address = address};

	if (!size_bytes)
		return;
	/* The file's headers no longer count. */
	VEC_GROW(table->items, table->capacity, table->count);
	for (size_t i = 0; i < name_size && name[i] && i + 1 < sizeof section.name; i++)
		section.name[i] = name[i];
	section.role = DEVCODE_LOOSE;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcmp(section.name, known[i].name)) {
			section.role = known[i].role;
			section.wrappers = known[i].wrappers;
		}
	}
	table->items[table->count++] = section;
}

static int by_offset(const void *a, const void *b)
{
	const struct section *one = a, *two = b;

	if (one->offset != two->offset)
		return one->offset < two->offset ? -1 : 1;
	return one->size_bytes < two->size_bytes ? -1 : one->size_bytes > two->size_bytes;
}

void sections_sort(struct section_table *table)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (table->count)
		qsort(table->items, table->count, sizeof *table->items, by_offset);
	for (size_t i = 0; i < table->count; i++) {
		struct section section = table->items[i];
		uint64_t cut = section.offset < end ? end - section.offset : 0;

		if (cut >= section.size_bytes)
			continue;
		section.offset += cut;
		section.address += cut;
		section.size_bytes -= cut;
		end = section.offset + section.size_bytes;
		table->items[kept++] = section;
	}
	table->count = kept;
}

const struct section *sections_holding(const struct section_table *table, uint64_t offset,
									   uint64_t size_bytes)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct section *section = &table->items[middle];

		if (offset < section->offset)
			high = middle;
		else if (offset - section->offset >= section->size_bytes)
			low = middle + 1;
		else
			return range_fits(offset - section->offset, size_bytes, section->size_bytes) ? section
																						 : NULL;
	}
	return NULL;
}

bool sections_offset(const struct section_table *table, uint64_t address, uint64_t *ret_offset)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct section *section = &table->items[i];

		if (address >= section->address && address - section->address < section->size_bytes) {
			*ret_offset = section->offset + (address - section->address);
			return true;
		}
	}
	return false;
}

void sections_free(struct section_table *table)
{
	mem_free(table->items);
	*table = (struct section_table){0};
}
