/* Finds containers made by device linking. Source: docs/fatbin.md, "Who links, and when": the
 * wrapper of a linked binary has version 2, and points to it by a relocation. */
#include <stdlib.h>

#include "base/mem.h"
#include "devcode/elf.h"
#include "devcode/image.h"

/* Whether there is anything to link; otherwise no wrapper is missing. `ret_wrappers` tells whether
 * there is a section for them. */
static bool needs_wrappers(const struct section_table *table,
						   const struct devcode_container *containers, size_t count,
						   bool *ret_wrappers)
{
	bool needs = false;

	*ret_wrappers = false;
	for (size_t i = 0; i < table->count; i++)
		*ret_wrappers = *ret_wrappers || table->items[i].wrappers;
	for (size_t i = 0; i < count && !needs; i++) {
		const struct section *section =
			sections_holding(table, containers[i].offset, containers[i].size_bytes);

		needs = section && section->role == DEVCODE_RELOCATABLE;
	}
	return needs;
}

static bool is_wrapper(const struct section_table *table, const struct wrapper *wrapper,
					   uint64_t *ret_address)
{
	const struct section *section = sections_holding(table, wrapper->offset, WRAPPER_SIZE);

	if (!section || !section->wrappers)
		return false;
	*ret_address = section->address + (wrapper->offset - section->offset) + WRAPPER_DATA_AT;
	return true;
}

static bool mark_wrapped(struct devcode_container *containers, size_t count, uint64_t offset)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (containers[middle].offset == offset) {
			containers[middle].linked = true;
			return true;
		}
		if (containers[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static int by_address(const void *a, const void *b)
{
	const struct elf_pointer *one = a, *two = b;

	return one->address < two->address ? -1 : one->address > two->address;
}

/* Reads the wrappers' data pointers, as after loading at the preferred address. */
static int read_pointers(struct jw_error *err, struct image *image,
						 const struct section_table *table, const struct bytes *bytes,
						 struct elf_pointer *pointers, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < image->wrapper_count; i++) {
		uint64_t address;

		if (is_wrapper(table, &image->wrappers[i], &address))
			pointers[count++] = (struct elf_pointer){address, image->wrappers[i].data};
	}
	*ret_count = count;
	if (!count)
		return 0;
	qsort(pointers, count, sizeof *pointers, by_address);
	return image->format == DEVCODE_ELF ? elf_relocate(err, bytes, table, pointers, count) : 0;
}

int wrappers_follow(struct jw_error *err, struct image *image, const struct section_table *table,
					const struct bytes *bytes, struct devcode_container *containers, size_t count,
					bool *ret_known)
{
	struct jw_error why = {0};
	struct elf_pointer *pointers;
	bool wrappers, needed = needs_wrappers(table, containers, count, &wrappers), known;
	size_t pointer_count = 0;

	*ret_known = !needed;
	if (!wrappers || table->object)
		return 0;
	pointers = mem_array(err, image->wrapper_count, sizeof *pointers);
	if (!pointers)
		return -1;
	/* Damaged relocations only leave it unknown. */
	known = !read_pointers(&why, image, table, bytes, pointers, &pointer_count);
	if (!known)
		pointer_count = 0;
	for (size_t i = 0; i < pointer_count; i++) {
		uint64_t offset;

		if (!sections_offset(table, pointers[i].value, &offset) ||
			!mark_wrapped(containers, count, offset))
			known = false;
	}
	mem_free(pointers);
	*ret_known = known;
	return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
}
