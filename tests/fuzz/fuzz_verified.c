/* Records of verified entries from the state directory: the bytes unchanged, and with a correct sum
 * behind them. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "cache/verified.h"

static void check(const void *data, size_t size)
{
	struct cache_verified verified;

	cache_verified_parse(data, size, size >= 16 ? load_u64((const uint8_t *)data + 8) : 0,
						 &verified);
	MUST(verified.count <= CACHE_VERIFIED_MOST);
	MUST(verified.count <= size / sizeof *verified.records);
	for (size_t i = 1; i < verified.count; i++)
		MUST(verified.records[i].key >= verified.records[i - 1].key);
	cache_verified_free(&verified);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf summed = BUF_MAX(size + 16);
	uint8_t sum[8];

	check(data, size);
	store_u64(sum, fnv_update(FNV_START, data, size));
	if (!buf_append(NULL, &summed, data, size) && !buf_append(NULL, &summed, sum, sizeof sum))
		check(summed.data, summed.size);
	buf_free(&summed);
	return 0;
}
