/* Files that end with a sum of the bytes before it. */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"

/* Checks the bytes unchanged, and then with a correct sum after them, so that the parser gets past
 * it. */
static inline void check_with_sum(const uint8_t *data, size_t size,
								  void (*check)(const void *data, size_t size))
{
	struct buf summed = BUF_MAX(size + 16);
	uint8_t sum[8];

	check(data, size);
	store_u64(sum, fnv_update(FNV_START, data, size));
	if (!buf_append(NULL, &summed, data, size) && !buf_append(NULL, &summed, sum, sizeof sum))
		check(summed.data, summed.size);
	buf_free(&summed);
}
