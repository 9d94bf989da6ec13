#include "cache/limit.h"

#include <ctype.h>
#include <stdlib.h>

#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"

/* Reads a number as the driver does, like strtoull: blanks, a sign, digits. Text after them is
 * ignored, and a number that does not fit becomes the largest. */
static uint64_t parse_number(const char *text)
{
	return strtoull(text, NULL, 10);
}

uint64_t cache_parse_limit(const char *text)
{
	uint64_t limit = parse_number(text);

	return limit < CACHE_MAX_LIMIT ? limit : CACHE_MAX_LIMIT;
}

/* Returns the size that a user meant by a unit, "1G" or "1 GiB"; 0 for any other text. */
static uint64_t meant_with_unit(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10), unit = 1;

	while (*end == ' ')
		end++;
	switch (toupper((unsigned char)*end)) {
	case 'K': unit = UINT64_C(1) << 10; break;
	case 'M': unit = UINT64_C(1) << 20; break;
	case 'G': unit = UINT64_C(1) << 30; break;
	case 'T': unit = UINT64_C(1) << 40; break;
	default: return 0;
	}
	return number > UINT64_MAX / unit ? UINT64_MAX : number * unit;
}

uint64_t cache_meant_limit(const char *text)
{
	const uint64_t meant = meant_with_unit(text);

	return meant < CACHE_MAX_LIMIT ? meant : CACHE_MAX_LIMIT;
}

char *cache_explain_limit(const char *text)
{
	const uint64_t meant = meant_with_unit(text), limit = cache_parse_limit(text);
	char size[TEXT_SHORT];

	if (meant)
		return mem_printf(
			meant > CACHE_MAX_LIMIT ? "CUDA_CACHE_MAXSIZE=%.200s: the driver reads %s; write %llu, "
									  "which is 4 GiB, the maximum"
									: "CUDA_CACHE_MAXSIZE=%.200s: the driver reads %s; write %llu",
			text, TEXT_COUNT(limit, "byte", "bytes"), (unsigned long long)cache_meant_limit(text));
	if (!limit)
		return mem_printf(
			"CUDA_CACHE_MAXSIZE=%.200s: the driver reads 0 and stores nothing; write bytes", text);
	if (parse_number(text) > CACHE_MAX_LIMIT)
		return mem_printf("CUDA_CACHE_MAXSIZE=%.200s: the driver reads it as its maximum, %s", text,
						  text_bytes(size, CACHE_MAX_LIMIT));
	return NULL;
}

uint64_t jw_tune_limit(uint64_t present_bytes, uint64_t predicted_bytes)
{
	const uint64_t step = UINT64_C(256) << 20, least = UINT64_C(1) << 30;
	uint64_t more, wanted;

	if (present_bytes >= CACHE_MAX_LIMIT || predicted_bytes >= CACHE_MAX_LIMIT)
		return CACHE_MAX_LIMIT;
	more = predicted_bytes + (predicted_bytes + 3) / 4;
	wanted = (present_bytes + more + step - 1) / step * step;
	if (wanted > CACHE_MAX_LIMIT)
		return CACHE_MAX_LIMIT;
	return wanted < least ? least : wanted;
}

uint64_t jw_cache_limit(const struct jw_cache_info *cache, uint64_t predicted_bytes)
{
	const uint64_t whole = cache->outlook.bytes + predicted_bytes;
	uint64_t limit = jw_tune_limit(cache->outlook.bytes, predicted_bytes);

	if (cache->meant_bytes && (cache->meant_bytes >= whole || cache->meant_bytes > limit))
		limit = cache->meant_bytes;
	limit = limit > cache->kept_bytes ? limit : cache->kept_bytes;
	return limit > cache->limit_bytes ? limit : cache->limit_bytes;
}

bool jw_cache_holds(const struct jw_cache_info *cache, uint64_t predicted_bytes)
{
	return !cache->meant_bytes && cache->limit_bytes >= CACHE_LEAST_LIMIT &&
		   cache->limit_bytes >= cache->outlook.bytes + predicted_bytes;
}

bool jw_cache_serves_now(const struct jw_cache_info *cache, uint64_t bytes)
{
	return cache->named ||
		   (text_same(cache->path, cache->now.path) && cache->disabled == cache->now.disabled &&
			(bytes <= cache->now.limit_bytes || cache->limit_bytes <= cache->now.limit_bytes));
}
