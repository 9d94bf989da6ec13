/* Searching an image for containers: in memory section by section, or whole as it streams by. */
#pragma once

#include "devcode/code_stream.h"
#include "devcode/image.h"

/* Searches [from, from + size) of an image in memory, and steps over sound containers. `from` is a
 * multiple of CONTAINER_ALIGN in the image: containers are looked for at such offsets. */
int search_range(struct jw_error *err, struct image *image, const struct stream *stream,
				 uint64_t from, uint64_t size);
/* Notes the version 2 wrappers of a section in memory. */
int search_wrappers(struct jw_error *err, struct image *image, const struct stream *stream,
					const struct section *section);

/* Parts of a stream that are kept: its beginning, for headers, and its end from `tail_from` on, for
 * an ELF's section headers. Each has a maximum; any other part has to be read again.
 */
struct capture {
	struct buf head, tail;
	uint64_t tail_from; /* UINT64_MAX: no tail is kept */
};

/* Searches a stream to its end, and notes wrappers on the way (search_stream.c). */
int search_stream(struct jw_error *err, struct image *image, struct stream *stream,
				  struct capture *capture);
