/* Vectors of sixteen bytes. GCC's and clang's vector types need no intrinsics, and become scalar
 * code on a machine without vectors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16 };

typedef uint8_t lanes __attribute__((vector_size(LANES)));

static inline lanes lanes_load(const uint8_t *from)
{
	lanes value;

	memcpy(&value, from, sizeof value);
	return value;
}

/* Returns all bits set in each lane that equals `c`, and none in the others. */
static inline lanes lanes_equal(lanes a, char c)
{
	return (lanes)(a == (uint8_t)c);
}

static inline bool lanes_any(lanes bits)
{
	uint64_t words[LANES / 8], all = 0;

	memcpy(words, &bits, sizeof words);
	for (size_t i = 0; i < LANES / 8; i++)
		all |= words[i];
	return all != 0;
}
