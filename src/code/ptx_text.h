/* PTX texts that follow each other without a NUL, as Go, Rust and C++ lay strings out. White space
 * between two texts belongs to the end of one and the beginning of the other: the file does not say
 * how much, but the run's first and last text do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ptx_run {
	size_t size;  /* from the first ".version" to the end of the last text and its white space */
	size_t count; /* the number of texts */
	size_t read;  /* the bytes that were read to find this */
	/* The white space that belongs to the texts, if there are two or more: before the first, before
	 * each further one, and after the last. */
	size_t first_lead, lead, trail;
};

/* Measures a run: a module begins with ".version" at `version`, with `size` bytes from there on and
 * `before` unassigned bytes before it. */
void ptx_run_measure(const uint8_t *version, size_t before, size_t size, struct ptx_run *ret_run);

/* Return the white space at the end of a text, and at its beginning. */
size_t ptx_run_blanks_behind(const uint8_t *text, size_t size);
size_t ptx_run_blanks_before(const uint8_t *text, size_t size);

/* PTX texts in the data of a program, as C arrays and strings or as Go, Rust and C++ compilers lay
 * strings out. A text ends with a NUL, or with the data that follows. */
enum {
	PTX_TEXT_MAX = 1 << 26,
	PTX_TEXT_BEFORE = 1 << 12, /* comments of a text before its ".version" */
	PTX_TEXT_WORD = 8,         /* bytes of ".version" */
	PTX_TEXT_AHEAD = 16,       /* at least the length of the longest directive that is compared */
};

/* Returns the place of the first ".version" that begins in the first `size` of `left` bytes; `size`
 * if there is none. */
size_t ptx_text_find(const uint8_t *bytes, size_t size, size_t left);

/* Returns how many of the `before` bytes before a ".version" belong to its text: white space and
 * comments, as compilers write them. A module begins at `version`. */
size_t ptx_text_lead(const uint8_t *version, size_t before);

/* Returns the length of the module that begins with ".version" at `version`, up to its NUL or the
 * only possible end; 0 if this is not a module with 64-bit code. *ret_read is the number of bytes
 * read for this. */
size_t ptx_text_length(const uint8_t *version, size_t size, size_t *ret_read);

/* Returns the distance from the end of a text to the next one's ".version", if only comments and
 * white space precede that; else `size`. */
size_t ptx_text_next(const uint8_t *end, size_t size);

/* Returns a sum over the names of a text's kernels, which identifies copies for several targets; 0
 * without kernels. */
uint64_t ptx_text_kernels(const uint8_t *text, size_t size);
