/* The cache's index: no bytes give more rows than they hold, or a sum that overflows. */
#include "fuzz.h"

#include "cache/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cache_index index;

	cache_index_parse(data, size, &index);
	MUST(index.count <= size / CACHE_ROW_SIZE);
	/* A sum that overflows. */
	if (index.count > 1)
		index.rows[index.count / 2].size_bytes = UINT64_MAX;
	(void)cache_index_next(&index, UINT64_C(1) << 30);
	cache_index_free(&index);
	return 0;
}
