/* The cache's index: whatever it holds, the index written after reading it is sound. */
#include "fuzz.h"

#include "cache/index.h"

static void format_and_read_again(const struct cache_index *index)
{
	struct cache_index again;
	struct buf bytes = {0};

	if (cache_index_format(NULL, index, &bytes))
		return;
	MUST(!cache_index_parse(NULL, bytes.data, bytes.size, &again));
	MUST(again.state == CACHE_INDEX_SOUND && again.count == index->count);
	MUST(again.total_bytes == cache_index_rows_total(index));
	cache_index_free(&again);
	buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cache_index index;

	if (cache_index_parse(NULL, data, size, &index))
		return 0;
	MUST(index.count <= size / CACHE_ROW_SIZE);
	(void)cache_index_next(&index, UINT64_C(1) << 30);
	/* A sum that overflows. */
	if (index.count > 1)
		index.rows[index.count / 2].size_bytes = UINT64_MAX;
	format_and_read_again(&index);
	cache_index_free(&index);
	return 0;
}
