/* Finding eight bytes at memory speed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "devcode/code_stream.h"
#include "devcode/image.h"
#include "devcode/ptx_text.h"

/* The first offset of the little-endian number `wanted` in `bytes`, among multiples of eight;
 * `size` if it does not occur. A last piece of less than eight bytes is not searched. */
size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted);

/* Searches an image for containers: in memory section by section, or as a stream. */

/* Searches [begin, end) of an image in memory, and skips what it finds. Containers may begin at
 * `from` and at multiples of CONTAINER_ALIGN behind it. */
struct search {
	uint64_t begin, from, end;
	bool texts; /* PTX texts too */
};
int search_range(struct jw_error *err, struct image *image, const struct stream *stream,
				 const struct search *search);
/* Records the version 2 wrappers of a section in memory. */
int search_wrappers(struct jw_error *err, struct image *image, const struct stream *stream,
					const struct section *section);

enum { CAPTURE_MOST_TAIL = 1 << 23 };

/* Parts of a stream that are kept: its beginning, for headers, and its end from `tail_from` on, for
 * an ELF's section headers. Each has a maximum; any other part has to be read again. */
struct capture {
	struct buf head, tail; /* of the tail at most CAPTURE_MOST_TAIL */
	uint64_t tail_from;    /* UINT64_MAX: no tail is kept */
	/* The last unassigned bytes: a text may have begun there. */
	uint8_t before[PTX_TEXT_BEFORE];
	size_t before_size;
};

/* Searches a stream to its end, and records its wrappers (search_stream.c). */
int search_stream(struct jw_error *err, struct image *image, struct stream *stream,
				  struct capture *capture);
