/* Finding eight bytes at memory speed. */
#ifndef JW_DEVCODE_FIND_WORD_H
#define JW_DEVCODE_FIND_WORD_H

#include <stddef.h>
#include <stdint.h>

/* The first place of `bytes`, a multiple of eight away from their start, where the little-endian
 * number `wanted` stands; `size` where there is none. A last piece of less than eight bytes is not
 * looked at. */
size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted);

#endif
