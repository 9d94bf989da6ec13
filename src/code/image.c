#include "code/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/packages.h"
#include "base/text.h"
#include "code/cubin.h"
#include "code/ptx.h"
#include "code/ptx_text.h"
#include "code/reread.h"
#include "code/sections.h"

enum {
	MAX_CONTAINERS = 1 << 20, /* cuFFT has 24 thousand, more than any other seen */
	MAX_ENTRIES = 1 << 16,    /* in one container; real containers have a dozen */
	MAX_DAMAGED = 1 << 20,
	MAX_WRAPPERS = 1 << 16,
	MAX_SEARCH_STEPS = 1 << 24,
	MAX_SEARCH_BYTES = 1 << 27,
};

int image_entry_room(struct jw_error *err, struct image *image, size_t count)
{
	if (count <= image->entry_capacity)
		return 0;
	if (count > MAX_ENTRIES)
		return error_set(err, JW_ERR_LIMIT, "a container of %zu entries", count);
	count = count < MAX_ENTRIES / 2 ? count * 2 : MAX_ENTRIES;
	image->entries = mem_resize(image->entries, count * sizeof *image->entries);
	image->entry_capacity = count;
	return 0;
}

int image_entries(struct jw_error *err, struct image *image, const uint8_t *bytes, uint64_t offset,
				  const struct container_walk *walk)
{
	if (image_entry_room(err, image, walk->entries))
		return -1;
	container_entries(bytes, walk->size_bytes, offset, image->entries, walk->entries);
	return 0;
}

int image_keep(struct jw_error *err, struct image *image, const uint8_t *bytes, size_t held_bytes,
			   uint64_t offset, const struct container_walk *walk)
{
	struct devcode_container *listed;

	if (VEC_ROOM(err, image->containers, image->capacity, image->count, MAX_CONTAINERS))
		return -1;
	image->found = (struct devcode_container){
		.index = image->count,
		.section = DEVCODE_NO_SECTION,
		.offset = offset,
		.size_bytes = walk->size_bytes,
		.bytes = bytes,
		.mapped = image->mapped,
		.held_bytes = held_bytes,
		.entries = image->entries,
		.entry_count = walk->entries,
	};
	listed = &image->containers[image->count++];
	*listed = image->found;
	listed->bytes = NULL;
	listed->entries = NULL;
	return 0;
}

int image_damage(struct jw_error *err, struct image *image, uint64_t offset,
				 const struct container_walk *walk)
{
	image->wasted_steps += walk->entries;
	if (image->damaged_count == MAX_DAMAGED || image->wasted_steps > MAX_SEARCH_STEPS)
		return error_set(err, JW_ERR_LIMIT, "too many broken containers to go on searching");
	VEC_GROW(image->damaged, image->damaged_capacity, image->damaged_count);
	image->damaged[image->damaged_count++] = offset;
	return 0;
}

int image_wrapper(struct jw_error *err, struct image *image, uint64_t offset, uint64_t data)
{
	if (VEC_ROOM(err, image->wrappers, image->wrapper_capacity, image->wrapper_count, MAX_WRAPPERS))
		return -1;
	image->wrappers[image->wrapper_count++] = (struct wrapper){offset, data};
	return 0;
}

int image_single(struct jw_error *err, struct image *image, enum devcode_format format,
				 const uint8_t *bytes, uint64_t size, uint64_t offset)
{
	struct devcode_entry entry = {.offset = offset, .stored_bytes = size, .size_bytes = size};

	if (format == DEVCODE_CUBIN) {
		struct cubin_header header;

		if (cubin_read(err, bytes, (size_t)size, &header))
			return -1;
		entry.kind = DEVCODE_KIND_CUBIN;
		entry.target = (struct jw_target){.sm = header.sm, .suffix = header.exclusive ? 'a' : 0};
		entry.cuda_13 = header.cuda_13;
		container_cubin(&entry, bytes, size);
	} else {
		struct devcode_ptx_header header;

		if (ptx_header_read(err, bytes, (size_t)size, &header))
			return -1;
		entry.kind = DEVCODE_KIND_PTX;
		entry.target = header.target;
		entry.isa_major = header.isa_major;
		entry.isa_minor = header.isa_minor;
	}
	(void)image_entry_room(NULL, image, 1);
	image->entries[0] = entry;
	return image_keep(err, image, bytes, 0, offset,
					  &(struct container_walk){.size_bytes = size, .entries = 1});
}

size_t image_text_needs(const struct image *image, const uint8_t *version, size_t size,
						uint64_t offset)
{
	struct ptx_run run = {0};

	if (offset < image->run_end)
		(void)ptx_text_length(version, size, &run.read);
	else
		ptx_run_measure(version, 0, size, &run);
	return run.read + PTX_TEXT_AHEAD;
}

/* Assigns the white space around a text: a part of it may belong to its neighbours in the run. */
static void share_blanks(struct image *image, const uint8_t *version, uint64_t offset, size_t *lead,
						 size_t *length)
{
	const struct ptx_run *run = &image->run;
	const size_t before = ptx_run_blanks_before(version - *lead, *lead),
				 behind = ptx_run_blanks_behind(version, *length),
				 own = offset + run->size == image->run_end ? run->first_lead : run->lead;

	if (run->count < 2)
		return;
	*lead -= before > own ? before - own : 0;
	if (offset + *length < image->run_end)
		*length -= behind < run->lead ? behind : run->lead;
	else
		*length -= behind > run->trail ? behind - run->trail : 0;
}

int image_text(struct jw_error *err, struct image *image, const uint8_t *version, size_t before,
			   size_t size, uint64_t offset, size_t *ret_size)
{
	size_t read, length = ptx_text_length(version, size, &read), lead;

	/* The bytes after a text are read again for the next one. */
	image->wasted_bytes += read - length;
	if (image->wasted_bytes > MAX_SEARCH_BYTES)
		return error_set(err, JW_ERR_LIMIT, "too many broken PTX texts to go on searching");
	*ret_size = PTX_TEXT_WORD;
	if (!length)
		return 0;
	before = before < PTX_TEXT_BEFORE ? before : PTX_TEXT_BEFORE;
	if (offset >= image->run_end) {
		ptx_run_measure(version, before, size, &image->run);
		image->run_end = offset + image->run.size;
	}
	lead = ptx_text_lead(version, before);
	share_blanks(image, version, offset, &lead, &length);
	*ret_size = length;
	if (image_single(err, image, DEVCODE_PTX, version - lead, lead + length, offset - lead))
		return -1;
	image->containers[image->count - 1].text = true;
	return 0;
}

/* The libraries that an image needs, as far as they matter. */
struct needed {
	uint32_t runtime_cuda, needs;
};

/* Takes the version from the name of a CUDA runtime: libcudart.so.12, libcudart-d0da41ae.so.11.0,
 * libcudart-15a7433b.so.12.6.37, cudart64_101.dll. */
static void take_needed(void *context, const char *name)
{
	struct needed *needed = context;
	uint32_t numbers[3] = {0}, cuda = 0;
	const char *version = strstr(name, ".so.");

	if (text_starts(name, "libcudart") && version &&
		text_numbers(version + strlen(".so."), 3, numbers, 3))
		cuda = numbers[0] * 1000 + numbers[1] % 100 * 10;
	else if (text_starts_fold(name, "cudart64_"))
		cuda = (uint32_t)strtoul(name + strlen("cudart64_"), NULL, 10) % 1000;
	/* 80 to 102 and 110; from CUDA 12 on only the major version */
	if (cuda < 1000)
		cuda = cuda < 80 ? cuda * 1000 : cuda / 10 * 1000 + cuda % 10 * 10;
	needed->runtime_cuda = cuda > needed->runtime_cuda ? cuda : needed->runtime_cuda;
	needed->needs |= package_fact_bit("library", name);
}

static struct needed needed_of(enum devcode_format format, const struct section_table *table,
							   struct bytes *bytes)
{
	enum { MAX_NAME = 255 /* of a file */, MAX_NAMES = 1 << 22 };
	struct needed needed = {0};
	const uint8_t *names = NULL;
	size_t size = 0;

	if (format == DEVCODE_PE)
		pe_imports(bytes, table, take_needed, &needed);
	for (size_t i = 0; i < table->count; i++)
		/* Tools that change names move this section anywhere (patchelf). */
		if (!strcmp(table->items[i].name, ".dynstr") && table->items[i].size_bytes <= MAX_NAMES &&
			!bytes_get(NULL, bytes, table->items[i].offset, table->items[i].size_bytes, &names))
			size = (size_t)table->items[i].size_bytes;
	for (const uint8_t *end; size && (end = memchr(names, 0, size)); names = end + 1) {
		const size_t length = (size_t)(end - names);
		char name[MAX_NAME + 1] = "";

		size -= length + 1;
		/* The NUL may be gone by now, if the names are those of a mapped file. */
		memcpy(name, names, length < MAX_NAME ? length : MAX_NAME);
		take_needed(&needed, name);
	}
	return needed;
}

/* Keeps the containers that lie in a section, in place, and lists their sections. Returns how many
 * broken containers lie in sections that hold containers; in other sections they are chance
 * hits. */
static size_t assign_sections(struct image *image, const struct section_table *table,
							  size_t *ret_count)
{
	/* For each section of the table: its number in image->sections, and whether it holds more than
	 * texts. */
	uint32_t *numbers = mem_array(table->count, sizeof *numbers);
	bool *has_containers = mem_array(table->count, sizeof *has_containers);
	size_t kept = 0, listed = 0, damaged = 0;

	image->sections = mem_array(table->count, sizeof *image->sections);
	for (size_t i = 0; i < table->count; i++)
		numbers[i] = DEVCODE_NO_SECTION;
	for (size_t i = 0; i < image->count; i++) {
		struct devcode_container *container = &image->containers[i];
		const struct section *section =
			sections_holding(table, container->offset, container->size_bytes);
		size_t at;

		if (!section)
			continue;
		at = (size_t)(section - table->items);
		if (numbers[at] == DEVCODE_NO_SECTION) {
			struct devcode_section *next = &image->sections[listed];

			*next = (struct devcode_section){.role = section->role,
											 .offset = section->offset,
											 .size_bytes = section->size_bytes};
			memcpy(next->name, section->name, sizeof next->name);
			numbers[at] = (uint32_t)listed++;
		}
		container->section = numbers[at];
		has_containers[at] |= !container->text;
		image->containers[kept++] = *container;
	}
	image->count = kept;
	for (size_t i = 0; i < image->damaged_count; i++) {
		const struct section *section =
			sections_holding(table, image->damaged[i], CONTAINER_START_SIZE);

		if (section && (section->role != DEVCODE_LOOSE || has_containers[section - table->items]))
			damaged++;
	}
	mem_free(numbers);
	mem_free(has_containers);
	*ret_count = listed;
	return damaged;
}

struct devcode_image image_finish(struct image *image, const struct section_table *table,
								  struct bytes *bytes)
{
	struct devcode_image full = {.format = image->format,
								 .size_bytes = bytes->size_bytes,
								 .damaged = image->damaged_count,
								 .wrappers_known = true};
	struct needed needed;

	if (!table->absent) {
		full.damaged = assign_sections(image, table, &full.section_count);
		full.wrappers_known = wrappers_follow(image, table, bytes);
	} else if (image->format == DEVCODE_ELF || image->format == DEVCODE_PE) {
		full.wrappers_known = false;
		full.damaged = image->count ? full.damaged : 0;
	}
	full.sections = image->sections;
	full.containers = image->containers;
	full.container_count = image->count;
	needed = needed_of(image->format, table, bytes);
	full.runtime_cuda = needed.runtime_cuda;
	full.needs = needed.needs;
	return full;
}

void image_free(struct image *image)
{
	mem_free(image->containers);
	mem_free(image->damaged);
	mem_free(image->wrappers);
	mem_free(image->entries);
	mem_free(image->sections);
}

/* Marks containers that were made by device linking. Source: docs/internals/fatbin.md, "Who links,
 * and when": the wrapper of a linked binary has version 2, and points to it by a relocation. */

static bool mark_wrapped(struct image *image, uint64_t offset)
{
	size_t low = 0, high = image->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->containers[middle].offset == offset) {
			image->containers[middle].linked = true;
			return true;
		}
		if (image->containers[middle].offset < offset)
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

bool wrappers_follow(struct image *image, const struct section_table *table, struct bytes *bytes)
{
	struct elf_pointer *pointers;
	bool exist = false, known = true;
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		exist = exist || table->items[i].wrappers;
	if (!exist || table->object) {
		/* Without objects there is nothing to link, so no wrapper is missing. */
		for (size_t i = 0; i < image->count; i++) {
			const struct section *section = sections_holding(table, image->containers[i].offset,
															 image->containers[i].size_bytes);

			known = known && !(section && section->role == DEVCODE_RELOCATABLE);
		}
		return known;
	}
	/* The wrappers' data pointers, as after loading at the preferred address. */
	pointers = mem_array(image->wrapper_count, sizeof *pointers);
	for (size_t i = 0; i < image->wrapper_count; i++) {
		const struct wrapper *wrapper = &image->wrappers[i];
		const struct section *section = sections_holding(table, wrapper->offset, WRAPPER_SIZE);

		if (section && section->wrappers)
			pointers[count++] = (struct elf_pointer){
				section->address + (wrapper->offset - section->offset) + WRAPPER_DATA_AT,
				wrapper->data};
	}
	/* With more sections than a linker makes, or damaged relocations, the answer is unknown. */
	if (count * table->count > MAX_SEARCH_STEPS)
		known = false;
	else if (count && image->format == DEVCODE_ELF) {
		qsort(pointers, count, sizeof *pointers, by_address);
		known = !elf_relocate(NULL, bytes, table, pointers, count);
	}
	for (size_t i = 0, all = known ? count : 0; i < all; i++) {
		uint64_t offset;

		if (!sections_offset(table, pointers[i].value, &offset) || !mark_wrapped(image, offset))
			known = false;
	}
	mem_free(pointers);
	return known;
}
