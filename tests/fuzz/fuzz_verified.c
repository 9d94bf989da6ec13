/* Any record of verified entries is read or ignored: the bytes unchanged, and with a correct sum.
 * */
#include "fuzz.h"

#include "cache/verified.h"
#include "fuzz_summed.h"

static void check(const void *data, size_t size)
{
	struct cache_verified verified;

	cache_verified_parse(data, size, size >= 16 ? load_u64((const uint8_t *)data + 8) : 0,
						 &verified);
	MUST(verified.count <= CACHE_VERIFIED_MAX);
	MUST(verified.count <= size / sizeof *verified.records);
	for (size_t i = 1; i < verified.count; i++)
		MUST(verified.records[i].key >= verified.records[i - 1].key);
	cache_verified_free(&verified);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_with_sum(data, size, check);
	return 0;
}
