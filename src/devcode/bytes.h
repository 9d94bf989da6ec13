/* Reads ranges of an image: from a mapping, or by reading a stream again. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bytes {
	/* The range in memory, valid until the next call; for small ranges. JW_ERR_FORMAT if it leaves
	 * the image. */
	int (*get)(struct jw_error *err, void *context, uint64_t offset, uint64_t size,
			   const uint8_t **ret_data);
	/* The range in pieces, in order; each but the last holds a multiple of DEVCODE_PIECE bytes. */
	int (*each)(struct jw_error *err, void *context, uint64_t offset, uint64_t size,
				int (*piece)(struct jw_error *err, void *of_piece, size_t part, const uint8_t *data,
							 size_t size),
				void *of_piece);
	void *context;
	uint64_t size_bytes; /* of the image */
};

static inline int bytes_get(struct jw_error *err, const struct bytes *bytes, uint64_t offset,
							uint64_t size, const uint8_t **ret_data)
{
	return bytes->get(err, bytes->context, offset, size, ret_data);
}
