#include "devcode/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "devcode/cubin.h"
#include "devcode/ptx.h"
#include "devcode/ptx_text.h"
#include "devcode/sections.h"

enum {
	MOST_CONTAINERS = 1 << 20, /* cuFFT has 24 thousand, the most seen */
	MOST_ENTRIES = 1 << 16,    /* in one container; real ones have a dozen */
	MOST_DAMAGED = 1 << 20,
	MOST_WRAPPERS = 1 << 16,
	MOST_VAIN_STEPS = 1 << 24,
	MOST_VAIN_BYTES = 1 << 27,
};

int image_entry_room(struct jw_error *err, struct image *image, size_t count)
{
	struct devcode_entry *larger;

	if (count <= image->entry_capacity)
		return 0;
	if (count > MOST_ENTRIES)
		return error_set(err, JW_ERR_LIMIT, "a container of %zu entries", count);
	count = count < MOST_ENTRIES / 2 ? count * 2 : MOST_ENTRIES;
	larger = mem_resize(image->entries, count * sizeof *larger);
	image->entries = larger;
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
	const struct devcode_sink *sink = image->reading->sink;
	struct devcode_container container = {
		.index = image->count,
		.section = DEVCODE_NO_SECTION,
		.offset = offset,
		.size_bytes = walk->size_bytes,
		.bytes = bytes,
		.held_bytes = held_bytes,
		.entries = image->entries,
		.entry_count = walk->entries,
	};

	if (VEC_ROOM(err, image->containers, image->capacity, image->count, MOST_CONTAINERS))
		return -1;
	if (sink->container && sink->container(err, sink->context, &container)) {
		image->reading->stopped = true;
		return -1;
	}
	container.bytes = NULL;
	container.entries = NULL;
	image->containers[image->count++] = container;
	return 0;
}

int image_damage(struct jw_error *err, struct image *image, uint64_t offset,
				 const struct container_walk *walk)
{
	image->vain_steps += walk->entries;
	if (image->damaged_count == MOST_DAMAGED || image->vain_steps > MOST_VAIN_STEPS)
		return error_set(err, JW_ERR_LIMIT, "too many broken containers to go on searching");
	if (VEC_ROOM(err, image->damaged, image->damaged_capacity, image->damaged_count, MOST_DAMAGED))
		return -1;
	image->damaged[image->damaged_count++] = offset;
	return 0;
}

int image_wrapper(struct jw_error *err, struct image *image, uint64_t offset, uint64_t data)
{
	if (VEC_ROOM(err, image->wrappers, image->wrapper_capacity, image->wrapper_count,
				 MOST_WRAPPERS))
		return -1;
	image->wrappers[image->wrapper_count++] = (struct wrapper){offset, data};
	return 0;
}

static int single_cubin(struct jw_error *err, const uint8_t *bytes, uint64_t size,
						struct devcode_entry *entry)
{
	struct cubin_header header;

	if (cubin_read(err, bytes, (size_t)size, &header))
		return -1;
	entry->kind = DEVCODE_KIND_CUBIN;
	entry->target = (struct jw_target){.sm = header.sm, .suffix = header.exclusive ? 'a' : 0};
	entry->cuda_13 = header.cuda_13;
	return 0;
}

static int single_ptx(struct jw_error *err, const uint8_t *bytes, uint64_t size,
					  struct devcode_entry *entry)
{
	struct devcode_ptx_header header;

	if (ptx_header_read(err, bytes, (size_t)size, &header))
		return -1;
	entry->kind = DEVCODE_KIND_PTX;
	entry->target = header.target;
	entry->isa_major = header.isa_major;
	entry->isa_minor = header.isa_minor;
	return 0;
}

static int keep_single(struct jw_error *err, struct image *image, const uint8_t *bytes,
					   uint64_t offset, const struct devcode_entry *entry)
{
	if (image_entry_room(err, image, 1))
		return -1;
	image->entries[0] = *entry;
	return image_keep(err, image, bytes, 0, offset,
					  &(struct container_walk){.size_bytes = entry->size_bytes, .entries = 1});
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

/* Assigns the white space around a text: its neighbours of the run own a part of it. */
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
	struct devcode_entry entry = {0};
	size_t read, length = ptx_text_length(version, size, &read), lead;

	/* What was read behind a text is read again for the next one. */
	image->vain_bytes += read - length;
	if (image->vain_bytes > MOST_VAIN_BYTES)
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
	entry.stored_bytes = entry.size_bytes = lead + length;
	entry.offset = offset - lead;
	if (single_ptx(err, version - lead, lead + length, &entry) ||
		keep_single(err, image, version - lead, offset - lead, &entry))
		return -1;
	image->containers[image->count - 1].text = true;
	return 0;
}

int image_single(struct jw_error *err, struct image *image, const uint8_t *bytes, uint64_t size)
{
	struct devcode_entry entry = {.stored_bytes = size, .size_bytes = size};

	if (image->format == DEVCODE_CUBIN ? single_cubin(err, bytes, size, &entry)
									   : single_ptx(err, bytes, size, &entry))
		return -1;
	return keep_single(err, image, bytes, 0, &entry);
}

/* The image for the sink: only sections that hold something, and the map to them. */
struct listing {
	struct devcode_section *sections;
	uint32_t *numbers; /* by index in the table: its number in `sections`, or DEVCODE_NO_SECTION */
	bool *has_containers; /* by index in the table: holds more than texts */
	size_t count, capacity;
};

static int list_section(struct jw_error *err, struct listing *listing,
						const struct section_table *table, const struct section *section,
						uint32_t *ret_number)
{
	size_t at = (size_t)(section - table->items);

	if (listing->numbers[at] == DEVCODE_NO_SECTION) {
		struct devcode_section *next;

		if (VEC_ROOM(err, listing->sections, listing->capacity, listing->count, SECTIONS_MOST))
			return -1;
		next = &listing->sections[listing->count];
		*next = (struct devcode_section){
			.role = section->role, .offset = section->offset, .size_bytes = section->size_bytes};
		for (size_t i = 0; i + 1 < sizeof next->name; i++)
			next->name[i] = section->name[i];
		listing->numbers[at] = (uint32_t)listing->count++;
	}
	*ret_number = listing->numbers[at];
	return 0;
}

/* Keeps the containers that lie in a section, in place, and numbers their sections. */
static int assign_sections(struct jw_error *err, struct image *image,
						   const struct section_table *table, struct listing *listing)
{
	size_t kept = 0;

	listing->numbers = mem_array(table->count, sizeof *listing->numbers);
	listing->has_containers = mem_array(table->count, sizeof *listing->has_containers);
	if (!listing->has_containers)
		return -1;
	for (size_t i = 0; i < table->count; i++)
		listing->numbers[i] = DEVCODE_NO_SECTION;
	for (size_t i = 0; i < image->count; i++) {
		struct devcode_container *container = &image->containers[i];
		const struct section *section =
			sections_holding(table, container->offset, container->size_bytes);

		if (!section)
			continue;
		if (list_section(err, listing, table, section, &container->section))
			return -1;
		listing->has_containers[section - table->items] |= !container->text;
		image->containers[kept++] = *container;
	}
	image->count = kept;
	return 0;
}

/* Counts broken containers in sections that hold containers: elsewhere they are chance hits. */
static size_t count_damaged(const struct image *image, const struct section_table *table,
							const struct listing *listing)
{
	size_t damaged = 0;

	for (size_t i = 0; i < image->damaged_count; i++) {
		const struct section *section = sections_holding(table, image->damaged[i], CONTAINER_ALIGN);

		if (section &&
			(section->role != DEVCODE_LOOSE || listing->has_containers[section - table->items]))
			damaged++;
	}
	return damaged;
}

/* PE cuts its name to eight characters. */
static void find_module_ids(const struct section_table *table, struct devcode_image *full)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->items[i].name, "__nv_module_id") ||
			!strcmp(table->items[i].name, "__nv_mod")) {
			full->module_ids_offset = table->items[i].offset;
			full->module_ids_bytes = table->items[i].size_bytes;
		}
}

/* Among the names of the libraries that it needs: libcudart.so.12, libcudart-d0da41ae.so.11.0. */
static uint32_t runtime_of(const struct section_table *table, const struct bytes *bytes)
{
	uint32_t cuda = 0;
	const uint8_t *names = NULL;
	size_t size = 0;

	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->items[i].name, ".dynstr") &&
			range_fits(table->items[i].offset, table->items[i].size_bytes, bytes->at_hand) &&
			!bytes_get(NULL, bytes, table->items[i].offset, table->items[i].size_bytes, &names))
			size = (size_t)table->items[i].size_bytes;
	for (const uint8_t *end; size && (end = memchr(names, 0, size)); names = end + 1) {
		const char *name = (const char *)names, *version;
		uint32_t numbers[2] = {0};

		size -= (size_t)(end - names) + 1;
		if (!text_starts(name, "libcudart") || !(version = strstr(name, ".so.")) ||
			!text_numbers(version + strlen(".so."), 3, numbers, 2))
			continue;
		/* From 11 on a driver takes the runtimes of its CUDA's major version. */
		numbers[0] = numbers[0] * 1000 + (numbers[0] < 11 ? numbers[1] * 10 : 0);
		cuda = numbers[0] > cuda ? numbers[0] : cuda;
	}
	return cuda;
}

static int hand_over_listing(struct jw_error *err, struct image *image,
							 const struct section_table *table, const struct listing *listing,
							 const struct bytes *bytes, size_t damaged, bool wrappers_known)
{
	const struct devcode_sink *sink = image->reading->sink;
	struct devcode_image full = {
		.path = image->reading->path,
		.member = image->member,
		.format = image->format,
		.size_bytes = bytes->size_bytes,
		.sections = listing->sections,
		.section_count = listing->count,
		.containers = image->containers,
		.container_count = image->count,
		.damaged = damaged,
		.wrappers_known = wrappers_known,
	};

	if ((!image->count && !damaged) || !sink->image)
		return 0;
	find_module_ids(table, &full);
	full.runtime_cuda = runtime_of(table, bytes);
	if (sink->image(err, sink->context, &full)) {
		image->reading->stopped = true;
		return -1;
	}
	return 0;
}

int image_finish(struct jw_error *err, struct image *image, const struct section_table *table,
				 const struct bytes *bytes)
{
	struct listing listing = {0};
	size_t damaged = image->damaged_count;
	bool known = true;
	int result = -1;

	if (!table->absent) {
		if (assign_sections(err, image, table, &listing) ||
			wrappers_follow(image, table, bytes, image->containers, image->count, &known))
			goto done;
		damaged = count_damaged(image, table, &listing);
	} else if (image->format == DEVCODE_ELF || image->format == DEVCODE_PE) {
		known = false;
		damaged = image->count ? damaged : 0;
	}
	result = hand_over_listing(err, image, table, &listing, bytes, damaged, known);
done:
	mem_free(listing.sections);
	mem_free(listing.numbers);
	mem_free(listing.has_containers);
	return result;
}

void image_free(struct image *image)
{
	mem_free(image->containers);
	mem_free(image->damaged);
	mem_free(image->wrappers);
	mem_free(image->entries);
}

/* Finds containers made by device linking. Source: docs/fatbin.md, "Who links, and when": the
 * wrapper of a linked binary has version 2, and points to it by a relocation. */

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

int wrappers_follow(struct image *image, const struct section_table *table,
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
	pointers = mem_array(image->wrapper_count, sizeof *pointers);
	/* Damaged relocations only leave it unknown, as do more sections than a linker makes. */
	known = !read_pointers(&why, image, table, bytes, pointers, &pointer_count);
	if (pointer_count * table->count > MOST_VAIN_STEPS)
		known = false;
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
	return 0;
}
