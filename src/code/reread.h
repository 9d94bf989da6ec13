/* Ranges of an image, in memory or read once more from its file. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "code/devcode.h"

/* The file that an image comes from. */
struct origin {
	const char *path;
	const char *member; /* as in devcode_image */
	const struct jw_cancel *cancel;
	atomic_uint_least64_t *again_bytes; /* see walk_again */
};

/* Returns a copy of one part of the image. */
static inline struct code_copy copy_of(const struct origin *origin, struct devcode_part *part)
{
	return (struct code_copy){.path = origin->path,
							  .parts = part,
							  .count = 1,
							  .cancel = origin->cancel,
							  .again_bytes = origin->again_bytes};
}

/* Reads a range of the image into memory once more. The caller frees *ret_bytes. */
int reread(struct jw_error *err, const struct origin *origin, uint64_t offset, uint64_t size,
		   struct buf *ret_bytes);

struct bytes {
	uint64_t size_bytes;         /* the size of the image */
	const uint8_t *memory;       /* all bytes of the image, */
	const struct origin *origin; /* or, if this is not NULL, the kept parts of its stream: */
	/* the beginning, and the bytes from `tail_from` and from `names_from` on */
	const struct buf *head, *tail, *names;
	uint64_t tail_from, names_from;
	struct buf again; /* the range that was read once more */
};

/* Returns whether the range need not be read again; *ret_data is its place. */
bool bytes_in_memory(const struct bytes *bytes, uint64_t offset, uint64_t size,
					 const uint8_t **ret_data);
/* Finds a range in memory, valid until the next call; for small ranges. JW_ERR_FORMAT if it is
 * outside the image. */
int bytes_get(struct jw_error *err, struct bytes *bytes, uint64_t offset, uint64_t size,
			  const uint8_t **ret_data);
