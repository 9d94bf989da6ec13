#include "code/find_bytes.h"

#include <string.h>

#include "code/lanes.h"

static size_t find_in_block(const uint8_t *bytes, size_t size, size_t left, const void *word,
							size_t length)
{
	for (size_t at = 0; at < size; at++) {
		const uint8_t *first = memchr(bytes + at, *(const uint8_t *)word, size - at);

		if (!first)
			break;
		at = (size_t)(first - bytes);
		if (left - at >= length && !memcmp(first, word, length))
			return at;
	}
	return size;
}

size_t find_bytes(const uint8_t *bytes, size_t size, size_t left, const void *word, size_t length)
{
	const char *pair = word;
	size_t at = 0;

	for (; size - at >= FIND_BLOCK && left - at > FIND_BLOCK; at += FIND_BLOCK) {
		lanes hits = {0};
		size_t found;

		/* Looks for the first two bytes in the block, which one more byte follows. */
		for (size_t i = 0; i < FIND_BLOCK; i += LANES)
			hits |= lanes_equal(lanes_load(bytes + at + i), pair[0]) &
					lanes_equal(lanes_load(bytes + at + i + 1), pair[1]);
		if (!lanes_any(hits))
			continue;
		found = find_in_block(bytes + at, FIND_BLOCK, left - at, word, length);
		if (found < FIND_BLOCK)
			return at + found;
	}
	return at + find_in_block(bytes + at, size - at, left - at, word, length);
}
