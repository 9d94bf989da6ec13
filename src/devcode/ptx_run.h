/* PTX texts that follow each other without a NUL, as Go, Rust and C++ lay strings out. White space
 * between two texts belongs to the end of one and the beginning of the other: the file does not say
 * how much, but the run's first and last text do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ptx_run {
	size_t size;  /* from the first ".version" to behind the last text and its white space */
	size_t count; /* of texts */
	size_t read;  /* bytes read for this */
	/* White space that belongs to the texts, if there are two or more: before the first, before
	 * each further one, and behind the last. */
	size_t first_lead, lead, trail;
};

/* A module begins with ".version" at `version`, with `size` bytes from there on and `before`
 * unassigned bytes before it. */
void ptx_run_measure(const uint8_t *version, size_t before, size_t size, struct ptx_run *ret_run);

/* White space at the end of the text, and at its beginning. */
size_t ptx_run_blanks_behind(const uint8_t *text, size_t size);
size_t ptx_run_blanks_before(const uint8_t *text, size_t size);
