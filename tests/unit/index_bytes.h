/* The bytes of a cache's index, as the driver writes them. */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "cache/entry.h"
#include "cache/index.h"

static inline struct buf index_bytes(const struct cache_index *index)
{
	struct buf bytes = BUF_MAX(CACHE_INDEX_HEADER + index->count * CACHE_ROW_SIZE);
	uint8_t *at;

	if (buf_reserve(NULL, &bytes, bytes.most))
		abort();
	bytes.size = bytes.most;
	store_u32(bytes.data, CACHE_VERSION);
	store_u32(bytes.data + 4, (uint32_t)index->count);
	store_u64(bytes.data + 8, cache_index_rows_total(index));
	at = bytes.data + CACHE_INDEX_HEADER;
	for (size_t i = 0; i < index->count; i++, at += CACHE_ROW_SIZE) {
		store_u64(at, index->rows[i].key);
		store_u64(at + 8, index->rows[i].size_bytes);
	}
	return bytes;
}
