#include "bake/baked_changes.h"

#include <stdlib.h>

#include "base/mem.h"

enum { MOST_RANGES = 1 << 26 };

int baked_changes_note(struct jw_error *err, struct baked_changes *changes, uint64_t offset,
					   uint64_t size_bytes)
{
	const uint64_t end = offset + size_bytes;

	if (!size_bytes)
		return 0;
	if (VEC_ROOM(err, changes->ranges, changes->capacity, changes->count, MOST_RANGES))
		return -1;
	changes->ranges[changes->count++] = (struct baked_range){offset, size_bytes};
	if (end > changes->size_after_bytes)
		changes->size_after_bytes = end;
	return 0;
}

static int by_range_offset(const void *a, const void *b)
{
	const struct baked_range *one = a, *two = b;

	return one->offset < two->offset ? -1 : one->offset > two->offset;
}

void baked_changes_end(struct baked_changes *changes)
{
	size_t kept = 0;

	if (changes->count)
		qsort(changes->ranges, changes->count, sizeof *changes->ranges, by_range_offset);
	for (size_t i = 0; i < changes->count; i++) {
		const struct baked_range next = changes->ranges[i];
		struct baked_range *last = kept ? &changes->ranges[kept - 1] : NULL;
		const uint64_t end = next.offset + next.size_bytes;

		if (!last || next.offset > last->offset + last->size_bytes)
			changes->ranges[kept++] = next;
		else if (end > last->offset + last->size_bytes)
			last->size_bytes = end - last->offset;
	}
	changes->count = kept;
}

void baked_changes_free(struct baked_changes *changes)
{
	mem_free(changes->ranges);
	*changes = (struct baked_changes){0};
}
