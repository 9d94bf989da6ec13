/* Finds a word in bytes, at memory speed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { FIND_BLOCK = 1 << 9 }; /* bytes that are compared between two branches */

/* Returns the first place in the first `size` of `left` bytes where the `length` bytes of `word`
 * begin, two or more; `size` if there is none. */
size_t find_bytes(const uint8_t *bytes, size_t size, size_t left, const void *word, size_t length);
