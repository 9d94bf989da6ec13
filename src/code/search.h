/* Searches an image for containers and PTX texts, in memory or in a stream, one after the other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "code/code_stream.h"
#include "code/image.h"
#include "code/ptx_text.h"

/* Returns the first place in the first `size` of `left` bytes where a container may begin; `size`
 * if there is none. */
size_t search_container(const uint8_t *bytes, size_t size, size_t left);
/* Returns the number of bytes, in whole blocks, that begin neither a container nor a ".version". */
size_t search_clear(const uint8_t *bytes, size_t size);

/* Both searches return 1 for the next container, image->found, and 0 at the end. */

/* Searches [begin, end) of an image in memory. `cancel` is asked every few MiB. */
struct range_search {
	uint64_t end;
	bool texts; /* search for PTX texts, too */
	/* Private: how far containers and texts were searched, the first unassigned byte, and the end
	 * of the released pages. */
	uint64_t at, text, free, forgotten;
	uint64_t hit;   /* the place of the next possible container; UINT64_MAX if there is none */
	uint64_t asked; /* the place at which `cancel` was asked last */
};
struct range_search search_range(uint64_t begin, uint64_t end, bool texts);
int search_range_next(struct jw_error *err, struct image *image, const struct stream *stream,
					  struct range_search *search, const struct jw_cancel *cancel);
/* Records the version 2 wrappers of a section in memory. */
int search_wrappers(struct jw_error *err, struct image *image, const struct stream *stream,
					const struct section *section);

enum { SEARCH_MAX_TAIL = 1 << 23 };

/* Searches a stream to its end, with its wrappers. For a large container, only headers, PTX and
 * small cubins are held. */
struct stream_search {
	struct image *image;
	struct stream *stream;
	/* The parts of the stream that are kept: the beginning, for headers, and the end from
	 * `tail_from` on, for an ELF's section headers. Each has a maximum; any other part has to be
	 * read again. */
	struct buf head, tail; /* the tail has at most SEARCH_MAX_TAIL bytes */
	uint64_t tail_from;    /* UINT64_MAX if no tail is kept */
	/* The section names, since symbols that are longer than the tail may follow them
	 * (TensorFlow's). */
	struct buf names, recent; /* `recent` has the last bytes */
	uint64_t names_from;
	/* The last unassigned bytes, where a text may have begun. */
	uint8_t before[PTX_TEXT_BEFORE];
	size_t before_size;
	/* The container found last: its bytes held outside the stream's window, and the number of its
	 * bytes in the window. */
	struct buf held;
	size_t behind;
};
int search_stream_next(struct jw_error *err, struct stream_search *search);
void search_stream_free(struct stream_search *search);
