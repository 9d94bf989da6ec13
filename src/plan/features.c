#include "plan/features.h"

#include <stdbool.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static bool starts(const uint8_t *at, const uint8_t *end, const char *word, size_t length)
{
	return (size_t)(end - at) >= length && !memcmp(at, word, length);
}

/* What begins at one byte, which is ';', '.' or 'b'. */
static void look_at(struct plan_features *features, const uint8_t *at, const uint8_t *end)
{
	if (*at == ';') {
		bool last = end - at == 1 || at[1] == '\n' || at[1] == '\r' || !at[1];

		features->statements += last;
	} else if (*at == 'b') {
		features->branches += starts(at, end, "bra", 3);
	} else if (starts(at, end, ".entry", 6)) {
		features->entries++;
	}
}

#if defined(__SSE2__)
/* Sixteen bytes at a time; only those places are looked at where two bytes in a row fit: PTX is
 * full of dots, but not of ".e". Reads one byte past the block: the caller leaves room. */
static unsigned places(const uint8_t *at)
{
	__m128i here = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i next = _mm_loadu_si128((const __m128i *)(const void *)(at + 1));
	__m128i semicolon = _mm_and_si128(_mm_cmpeq_epi8(here, _mm_set1_epi8(';')),
									  _mm_cmplt_epi8(next, _mm_set1_epi8(' ')));
	__m128i branch = _mm_and_si128(_mm_cmpeq_epi8(here, _mm_set1_epi8('b')),
								   _mm_cmpeq_epi8(next, _mm_set1_epi8('r')));
	__m128i entry = _mm_and_si128(_mm_cmpeq_epi8(here, _mm_set1_epi8('.')),
								  _mm_cmpeq_epi8(next, _mm_set1_epi8('e')));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(semicolon, _mm_or_si128(branch, entry)));
}
#endif

void plan_features_count(struct plan_features *ret_features, const void *text, size_t size)
{
	struct plan_features features = {0};
	const uint8_t *at = text, *end = at + size;

#if defined(__SSE2__)
	for (; end - at >= 17; at += 16)
		for (unsigned mask = places(at); mask; mask &= mask - 1)
			look_at(&features, at + __builtin_ctz(mask), end);
#endif
	for (; at < end; at++)
		if (*at == ';' || *at == '.' || *at == 'b')
			look_at(&features, at, end);
	*ret_features = features;
}
