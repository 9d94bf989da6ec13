/* A stream of bytes from a mapping, an archive member or a decompressor. A caller can look ahead up
 * to the stream's maximum; this keeps containers from archives in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "os/file.h"

enum {
	STREAM_STEP = 1 << 18
}; /* bytes to request at a time; so many stay in the processor's cache */

/* Fills in up to `size` bytes; *ret_got is 0 only at the end. */
typedef int (*stream_read_fn)(struct jw_error *err, void *context, uint8_t *to, size_t size,
							  size_t *ret_got);

struct stream {
	/* For a stream in memory: all of its bytes. */
	const uint8_t *memory;
	const struct os_map *map; /* the mapping that `memory` is a part of, or NULL */
	/* For other streams: */
	stream_read_fn read;
	void *context;
	/* The bytes that were read and not taken, which begin at `start`; for a mapped stream, the copy
	 * of stream_peek_copy. */
	struct buf window;
	size_t start;
	bool ended;

	uint64_t size_bytes; /* for a stream in memory: its whole size */
	uint64_t offset;     /* the offset of the next byte in the stream */
};

void stream_of_memory(struct stream *stream, const uint8_t *data, size_t size,
					  const struct os_map *map);
/* `most` limits how far a caller can look ahead. */
void stream_of_reader(struct stream *stream, stream_read_fn read, void *context, size_t most);
void stream_free(struct stream *stream);
/* Frees the memory of a stream that was read to its end; further reads return the end. */
void stream_release(struct stream *stream);

/* Returns the next bytes without taking them: at least `wanted`, fewer only at the end. Valid until
 * the next call. */
int stream_peek(struct jw_error *err, struct stream *stream, size_t wanted,
				const uint8_t **ret_data, size_t *ret_size);
/* Returns the next bytes like stream_peek; from a mapped stream, it returns a copy of at most
 * `mapped` of them, which does not change. For the decoders of other libraries. */
int stream_peek_copy(struct jw_error *err, struct stream *stream, size_t wanted, size_t mapped,
					 const uint8_t **ret_data, size_t *ret_size);
/* Takes `size` bytes, fewer at the end of the stream. */
int stream_skip(struct jw_error *err, struct stream *stream, uint64_t size);

/* Releases the mapped pages before `at` if there are enough of them; *forgotten is the end of the
 * released pages. */
void stream_forget(const struct stream *stream, uint64_t at, uint64_t *forgotten);
