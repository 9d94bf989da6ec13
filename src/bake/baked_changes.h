/* Where a baked file differs from its original: the ranges that were written, and both lengths. A
 * journal that keeps the original's bytes of these ranges, and its length, restores it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct baked_range {
	uint64_t offset, size_bytes;
};

struct baked_changes {
	/* By offset, without overlaps, once baked_changes_end was called. Ranges may lie beyond
	 * size_before_bytes: what was appended. All other bytes below size_before_bytes are equal; all
	 * others beyond it are zeros. */
	struct baked_range *ranges;
	size_t count, capacity;
	uint64_t size_before_bytes, size_after_bytes; /* after >= before */
};

/* Notes a range that is about to be written, and the length that the file then has. */
int baked_changes_note(struct jw_error *err, struct baked_changes *changes, uint64_t offset,
					   uint64_t size_bytes);
/* Sorts and joins the ranges. May be called again. */
void baked_changes_end(struct baked_changes *changes);
void baked_changes_free(struct baked_changes *changes);
