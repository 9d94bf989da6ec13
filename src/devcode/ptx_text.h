/* PTX texts in the data of a program, as C arrays and strings or as Go, Rust and C++ compilers lay
 * strings out: ended by a NUL, or by the data that follows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PTX_TEXT_MOST = 1 << 26,
	PTX_TEXT_BEFORE = 1 << 12, /* comments of a text before its ".version" */
	PTX_TEXT_WORD = 8,         /* bytes of ".version" */
};

/* The number of bytes, in whole blocks, that begin neither a container nor a ".version"; runs at
 * memory speed. */
enum { PTX_TEXT_BLOCK = 1 << 9 };
size_t ptx_text_clear(const uint8_t *bytes, size_t size);

/* The first ".version" that begins in the first `size` of `left` bytes; `size` if there is none. */
size_t ptx_text_find(const uint8_t *bytes, size_t size, size_t left);

/* How many of the `before` bytes before a ".version" belong to its text: white space and comments,
 * as compilers write them. A module begins at `version`. */
size_t ptx_text_lead(const uint8_t *version, size_t before);

/* The length of the module that begins with ".version" at `version`, up to its NUL or the only
 * possible end; 0 if this is not a module with 64-bit code. *ret_read: the bytes read for this. */
size_t ptx_text_length(const uint8_t *version, size_t size, size_t *ret_read);

/* After a text: the distance to the next one's ".version", if only comments and white space precede
 * it; else `size`. */
size_t ptx_text_next(const uint8_t *end, size_t size);

/* A sum over the names of a text's kernels, which identifies copies for several targets; 0 without
 * kernels. */
uint64_t ptx_text_kernels(const uint8_t *text, size_t size);
