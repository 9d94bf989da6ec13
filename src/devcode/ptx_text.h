/* PTX texts in the data of a program, as C arrays and strings or as Go, Rust and C++ compilers lay
 * strings out: ended by a NUL, or by whatever comes next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PTX_TEXT_MOST = 1 << 26,
	PTX_TEXT_BEFORE = 1 << 12, /* of a text's comments in front of its ".version" */
	PTX_TEXT_WORD = 8,         /* bytes of ".version" */
};

/* So many bytes, whole blocks, begin neither a container nor a ".version": at the speed of memory.
 */
enum { PTX_TEXT_BLOCK = 1 << 9 };
size_t ptx_text_clear(const uint8_t *bytes, size_t size);

/* The first ".version" that begins in the first `size` of `left` bytes; `size` if there is none. */
size_t ptx_text_find(const uint8_t *bytes, size_t size, size_t left);

/* How many of the bytes in front of a ".version" belong to its text: white space and comments, as
 * compilers write them. `before` of them are there, and a module from `version` on. */
size_t ptx_text_lead(const uint8_t *version, size_t before);

/* The length of the module that begins with ".version" at `version`, up to its NUL or to where it
 * can only end; 0 if this is no module with code for 64 bits. *ret_read: the bytes that this took.
 */
size_t ptx_text_length(const uint8_t *version, size_t size, size_t *ret_read);

/* Behind a text: the bytes up to the next one's ".version", if nothing but comments and white space
 * comes before it; else `size`. */
size_t ptx_text_next(const uint8_t *end, size_t size);

/* A sum over the names of a text's kernels, by which copies for several targets are known; 0
 * without kernels. */
uint64_t ptx_text_kernels(const uint8_t *text, size_t size);
