#include "plan/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "plan/estimate.h"
#include "plan/plan.h"
#include "plan/verdict.h"

enum { MAX_FORM_ENTRIES = 1 << 20 };

static struct jw_piece_entry entry_facts(const struct devcode_container *container,
										 const struct devcode_entry *entry, struct jw_target text)
{
	return (struct jw_piece_entry){
		.kind = entry->kind,
		.target = entry->target,
		.text = text,
		.isa_major = entry->isa_major,
		.isa_minor = entry->isa_minor,
		.cuda = entry->first_cuda,
		.toolkit = entry->compiler_cuda,
		.zstd = entry->compression == DEVCODE_ZSTD,
		.relocatable = plan_entry_relocatable(container, entry),
		.damaged = entry->damaged,
	};
}

static bool same_facts(const struct jw_piece_entry *a, const struct jw_piece_entry *b)
{
	return a->kind == b->kind && jw_target_equal(a->target, b->target) &&
		   jw_target_equal(a->text, b->text) && a->isa_major == b->isa_major &&
		   a->isa_minor == b->isa_minor && a->cuda == b->cuda && a->toolkit == b->toolkit &&
		   a->zstd == b->zstd && a->relocatable == b->relocatable && a->damaged == b->damaged;
}

static bool same_form(const struct noted_form *a, const struct noted_form *b)
{
	bool same = a->empty == b->empty && a->edited == b->edited && a->entry_count == b->entry_count;

	for (size_t i = 0; same && i < a->entry_count; i++)
		same = same_facts(&a->entries[i], &b->entries[i]);
	return same;
}

static uint64_t form_hash(const struct noted_form *form)
{
	uint64_t hash = fnv_update(FNV_START, &form->empty, sizeof form->empty);

	for (size_t i = 0; i < form->entry_count; i++) {
		const struct jw_piece_entry *entry = &form->entries[i];
		const uint32_t facts[] = {entry->kind,      entry->target.sm, entry->text.sm,
								  entry->isa_major, entry->isa_minor, entry->toolkit};

		hash = fnv_update(hash, facts, sizeof facts);
	}
	return hash;
}

int pieces_form_of(struct jw_error *err, struct noted *noted,
				   const struct devcode_container *container, const struct jw_target *texts,
				   struct noted_container *of)
{
	struct noted_form form = {.entries = mem_array(container->entry_count, sizeof *form.entries),
							  .entry_count = container->entry_count,
							  .empty = of->empty,
							  .edited = of->edited};
	size_t cursor = 0, at;
	uint64_t hash;

	for (size_t i = 0; i < container->entry_count; i++)
		form.entries[i] = entry_facts(container, &container->entries[i], texts[i]);
	hash = form_hash(&form);
	while ((at = set_find(&noted->by_form, hash, &cursor)) != SET_NONE &&
		   !same_form(&noted->forms[at], &form))
		;
	if (at == SET_NONE && noted->form_entries + form.entry_count <= MAX_FORM_ENTRIES) {
		VEC_GROW(noted->forms, noted->form_capacity, noted->form_count);
		at = noted->form_count++;
		noted->forms[at] = form;
		noted->form_entries += form.entry_count;
		set_add(&noted->by_form, hash, at);
	} else {
		mem_free(form.entries);
	}
	if (at == SET_NONE)
		return error_set(err, JW_ERR_LIMIT, "more than %d different entries of device code",
						 MAX_FORM_ENTRIES);
	of->form = (uint32_t)at;
	return 0;
}

void pieces_forms_clear(struct noted *noted)
{
	for (size_t i = 0; i < noted->form_count; i++)
		mem_free(noted->forms[i].entries);
	noted->form_count = noted->form_entries = 0;
	set_free(&noted->by_form);
	noted->by_form = (struct set){0};
}

/* Returns the piece with that form, role and link, and adds it if it is new. */
static uint32_t piece_of(struct pieces *pieces, struct set *known, const struct noted *noted,
						 uint32_t form, enum devcode_role role, bool linked)
{
	const struct noted_form *from = &noted->forms[form];
	const uint64_t name = (uint64_t)form << 8 | (unsigned)role << 1 | linked;
	struct jw_piece_entry *entries;
	size_t cursor = 0, at = set_find(known, name, &cursor);

	if (at != SET_NONE)
		return (uint32_t)at;
	VEC_GROW(pieces->items, pieces->capacity, pieces->count);
	VEC_GROW(pieces->entries, pieces->entries_capacity, pieces->count);
	entries = mem_array(from->entry_count, sizeof *entries);
	if (from->entry_count)
		memcpy(entries, from->entries, from->entry_count * sizeof *entries);
	set_add(known, name, pieces->count);
	pieces->entries[pieces->count].items = entries;
	pieces->items[pieces->count] = (struct jw_piece){.role = role,
													 .linked = linked,
													 .empty = from->empty,
													 .edited = from->edited,
													 .kernels = from->kernels,
													 .entries = entries,
													 .entry_count = from->entry_count};
	return (uint32_t)pieces->count++;
}

/* Returns the container at that offset; they are sorted by offset. */
static size_t container_at(const struct devcode_image *image, uint64_t offset)
{
	size_t low = 0, high = image->container_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (image->containers[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns whether the module stands in an earlier library that is no variant of this one; else it
 * is known from now on. */
static bool is_module_known(struct set *known, const struct plan_module *module, size_t variants)
{
	const uint64_t name = module_name(module) + module->form;
	size_t cursor = 0, first = set_find(known, name, &cursor);

	if (first == SET_NONE)
		set_add(known, name, first = variants);
	return first != variants;
}

/* Adds each distinct module of the image to the entry that holds its PTX. */
static void add_costs(struct pieces *pieces, const struct noted *noted,
					  const struct devcode_image *image, const struct plan_module *modules,
					  size_t module_count, struct set *known)
{
	const size_t variants = (size_t)(fate_variants(image->path, image->member) >> 1);
	struct set done = {0};

	for (size_t m = 0; m < module_count; m++) {
		const struct plan_module *module = &modules[m];
		const size_t at = container_at(image, module->container_offset);
		const struct noted_container *container = &noted->containers[image->containers[at].index];
		struct plan_estimate estimate;

		if (module->superseded || set_has(&done, module->entry_offset))
			continue;
		set_add(&done, module->entry_offset, m);
		if (is_module_known(known, module, variants))
			continue;
		plan_estimate(&estimate, &module->features, module->payload_bytes, NULL);
		for (uint32_t k = 0; k < container->entry_count; k++) {
			struct jw_piece_entry *entry = &pieces->entries[pieces->of_container[at]].items[k];

			if (noted->entries[container->first_entry + k].offset != module->entry_offset)
				continue;
			entry->modules++;
			entry->ptx_bytes += module->payload_bytes;
			entry->cache_bytes += estimate.entry_bytes;
			entry->cost_ms += estimate.cost_ms;
			if (estimate.cost_ms > entry->longest_ms)
				entry->longest_ms = estimate.cost_ms;
		}
	}
	set_free(&done);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts entries by architecture, since compilers write them in any order (jaxlib's wheels). Of
 * entries for one architecture, the driver takes the first or the last, so these keep their
 * order. */
static void sort_entries(struct jw_piece_entry *entries, size_t count)
{
	struct jw_piece_entry *sorted = mem_array(count, sizeof *sorted);
	uint64_t *places = mem_array(count, sizeof *places);

	for (size_t i = 0; i < count; i++)
		places[i] = (uint64_t)entries[i].target.sm << 32 | i;
	if (count)
		qsort(places, count, sizeof *places, by_value);
	for (size_t i = 0; i < count; i++)
		sorted[i] = entries[(uint32_t)places[i]];
	if (count)
		memcpy(entries, sorted, count * sizeof *entries);
	mem_free(places);
	mem_free(sorted);
}

void pieces_make(struct pieces *pieces, const struct noted *noted,
				 const struct devcode_image *image, const struct plan_module *modules,
				 size_t module_count, struct set *known)
{
	struct set forms = {0};

	pieces->of_container = mem_array(image->container_count, sizeof *pieces->of_container);
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		pieces->of_container[i] =
			piece_of(pieces, &forms, noted, noted->containers[container->index].form,
					 devcode_role_of(image, container), container->linked);
		pieces->items[pieces->of_container[i]].containers++;
	}
	add_costs(pieces, noted, image, modules, module_count, known);
	for (size_t i = 0; i < pieces->count; i++)
		sort_entries(pieces->entries[i].items, pieces->items[i].entry_count);
	set_free(&forms);
}

void pieces_free(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		mem_free(pieces->entries[i].items);
	mem_free(pieces->entries);
	mem_free(pieces->items);
	mem_free(pieces->of_container);
}
