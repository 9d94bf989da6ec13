/* Searches an image for containers and PTX texts, in memory or in a stream, one after the other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/code_stream.h"
#include "code/image.h"
#include "code/ptx_text.h"

/* The first offset of the little-endian number `wanted` in `bytes`, among multiples of eight;
 * `size` if it does not occur. A last piece of less than eight bytes is not searched. */
size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted);

/* Both searches give 1: image->found is the next container; 0: there is none any more. */

/* [begin, end) of an image in memory. Containers may begin at `from` and at multiples of
 * CONTAINER_ALIGN behind it. */
struct range_search {
	uint64_t end;
	bool texts; /* PTX texts, too */
	/* Private: the limits for containers and for texts, the first unassigned byte, and up to where
	 * pages were released. */
	uint64_t at, text, free, forgotten;
	uint64_t hit; /* what begins there looks like a container; UINT64_MAX: none */
};
struct range_search search_range(uint64_t begin, uint64_t from, uint64_t end, bool texts);
int search_range_next(struct jw_error *err, struct image *image, const struct stream *stream,
					  struct range_search *search);
/* Records the version 2 wrappers of a section in memory. */
int search_wrappers(struct jw_error *err, struct image *image, const struct stream *stream,
					const struct section *section);

enum { SEARCH_MAX_TAIL = 1 << 23 };

/* A stream to its end, with its wrappers. Of a large container only headers, PTX and small cubins
 * are held. */
struct stream_search {
	struct image *image;
	struct stream *stream;
	/* Of the bytes that went by these are kept: the beginning, for headers, and the end from
	 * `tail_from` on, for an ELF's section headers. Each has a maximum; any other part has to be
	 * read again. */
	struct buf head, tail; /* of the tail at most SEARCH_MAX_TAIL */
	uint64_t tail_from;    /* UINT64_MAX: no tail is kept */
	/* Section names: symbols that are longer than the tail may lie behind them (TensorFlow's). */
	struct buf names, recent; /* recent: the last bytes */
	uint64_t names_from;
	/* The last unassigned bytes: a text may have begun there. */
	uint8_t before[PTX_TEXT_BEFORE];
	size_t before_size;
	/* The container that was found last: what is held of it outside of the stream's window, and its
	 * bytes in there. */
	struct buf held;
	size_t behind;
};
int search_stream_next(struct jw_error *err, struct stream_search *search);
void search_stream_free(struct stream_search *search);
