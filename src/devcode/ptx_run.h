/* PTX texts that lie one behind the other without a NUL, as Go, Rust and C++ lay strings out. White
 * space between two of them is the end of one and the beginning of the other: the file does not say
 * how much of it, but the run's first and last text do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ptx_run {
	size_t size;  /* from the first ".version" to behind the last text and its white space */
	size_t count; /* of texts */
	size_t read;  /* bytes that this took */
	/* White space that belongs to the texts, of two and more: in front of the first, of each
	 * further one, and behind the last. */
	size_t first_lead, lead, trail;
};

/* A module begins with ".version" at `version`, of which `size` bytes are there, with `before`
 * bytes in front that belong to nothing yet. */
void ptx_run_measure(const uint8_t *version, size_t before, size_t size, struct ptx_run *ret_run);

/* White space at the end of the text, and at its beginning. */
size_t ptx_run_blanks_behind(const uint8_t *text, size_t size);
size_t ptx_run_blanks_before(const uint8_t *text, size_t size);
