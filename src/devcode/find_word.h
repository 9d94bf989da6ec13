/* Finding eight bytes at memory speed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The first offset of the little-endian number `wanted` in `bytes`, among multiples of eight;
 * `size` if it does not occur. A last piece of less than eight bytes is not searched. */
size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted);
