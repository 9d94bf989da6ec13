#include "devcode/find_word.h"

#include <string.h>

#include "base/cursor.h"

enum { BLOCK = 64 }; /* words compared between two branches */

/* Whether one of BLOCK words is `wanted`. Contains no branch, so that the loop runs at memory
 * speed. */
static bool block_holds(const uint8_t *bytes, uint64_t wanted)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < BLOCK; i++) {
		uint64_t word;

		memcpy(&word, bytes + i * 8, 8);
		hits |= (uint64_t)(word == wanted);
	}
	return hits != 0;
}

size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted)
{
	uint8_t pattern[8];
	uint64_t native;
	size_t at = 0;

	store_u64(pattern, wanted);
	memcpy(&native, pattern, 8); /* in the machine's own byte order */
	while (size - at >= BLOCK * 8 && !block_holds(bytes + at, native))
		at += BLOCK * 8;
	for (; size - at >= 8; at += 8)
		if (!memcmp(bytes + at, pattern, 8))
			return at;
	return size;
}
