/* Libraries of an archive, one for each CUDA version. Which one a program loads is decided where
 * the archive gets unpacked, so all of them count, and a note says so. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "find/variants.h"
#include "os/file.h"
#include "plan/build.h"

struct member_variant {
	uint64_t group; /* the member's name without the version, in its archive */
	const struct plan_file *file;
	struct variant_name name;
};

static int by_member_group(const void *a, const void *b)
{
	const struct member_variant *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return (left->file > right->file) - (left->file < right->file);
}

static uint64_t group_of_member(const struct plan_file *file, const struct variant_name *name)
{
	const char *base = os_base_name(file->member);
	uint64_t state = fnv_update(FNV_START, file->path, strlen(file->path) + 1);

	state = fnv_update(state, file->member, (size_t)(base - file->member) + name->start);
	return fnv_update(state, base + name->end, strlen(base + name->end) + 1);
}

/* "x.whl: quant/libquant_*.so: 6 variants for …" */
static int note_member_group(struct jw_error *err, struct build *build,
							 const struct member_variant *first, size_t count)
{
	const char *member = first->file->member, *base = os_base_name(member);
	const int before = (int)(base - member) + (int)first->name.start;

	return build_note(err, build, false,
					  "%.800s: %.*s*%.200s: %zu variants for different CUDA versions, of which a "
					  "program loads one; all count, since an archive does not tell which",
					  first->file->path, before, member, base + first->name.end, count);
}

int build_note_variants(struct jw_error *err, struct build *build)
{
	const struct plan *plan = build->plan;
	struct member_variant *variants = mem_array(err, plan->file_count, sizeof *variants);
	size_t count = 0, end;
	int result = 0;

	if (!variants)
		return -1;
	for (size_t i = 0; i < plan->file_count; i++) {
		struct member_variant variant = {.file = &plan->files[i]};

		if (!variant.file->member ||
			!variant_of_name(os_base_name(variant.file->member), &variant.name))
			continue;
		variant.group = group_of_member(variant.file, &variant.name);
		variants[count++] = variant;
	}
	if (count)
		qsort(variants, count, sizeof *variants, by_member_group);
	for (size_t i = 0; !result && i < count; i = end) {
		for (end = i + 1; end < count && variants[end].group == variants[i].group;)
			end++;
		if (end - i > 1)
			result = note_member_group(err, build, &variants[i], end - i);
	}
	mem_free(variants);
	return result;
}
