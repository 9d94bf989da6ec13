/* Ranges of an image: at hand, or read once more from its file. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "code/devcode.h"

/* Where an image comes from. */
struct origin {
	const char *path;
	const char *member; /* as in devcode_image */
	const struct jw_cancel *cancel;
	atomic_uint_least64_t *again_bytes; /* see walk_again */
};

/* Of one part of the image. */
static inline struct code_copy copy_of(const struct origin *origin, struct devcode_part *part)
{
	return (struct code_copy){.path = origin->path,
							  .parts = part,
							  .count = 1,
							  .cancel = origin->cancel,
							  .again_bytes = origin->again_bytes};
}

/* A range of the image, read once more into memory. The caller frees *ret_bytes. */
int reread(struct jw_error *err, const struct origin *origin, uint64_t offset, uint64_t size,
		   struct buf *ret_bytes);

struct bytes {
	uint64_t size_bytes;         /* of the image */
	const uint8_t *memory;       /* all of it, */
	const struct origin *origin; /* or, if this is not NULL, what was kept of its stream: */
	/* from its beginning, from `tail_from` and from `names_from` on */
	const struct buf *head, *tail, *names;
	uint64_t tail_from, names_from;
	struct buf again; /* the range that was read once more */
};

/* Whether the range need not be read again. */
bool bytes_in_memory(const struct bytes *bytes, uint64_t offset, uint64_t size,
					 const uint8_t **ret_data);
/* The range in memory, valid until the next call; for small ranges. JW_ERR_FORMAT if it leaves the
 * image. */
int bytes_get(struct jw_error *err, struct bytes *bytes, uint64_t offset, uint64_t size,
			  const uint8_t **ret_data);
