/* A stream of bytes from a mapping, an archive member or a decompressor. A caller can look ahead up
 * to the stream's maximum; this keeps containers from archives in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "os/file.h"

enum { STREAM_STEP = 1 << 18 }; /* bytes to request at a time: they stay in the processor's cache */

/* Fills in up to `size` bytes; *ret_got is 0 only at the end. */
typedef int (*stream_read_fn)(struct jw_error *err, void *context, uint8_t *to, size_t size,
							  size_t *ret_got);

struct stream {
	/* In memory: all of it from the start. */
	const uint8_t *memory;
	const struct os_map *map; /* the mapping that `memory` is a part of, or NULL */
	/* Otherwise: */
	stream_read_fn read;
	void *context;
	struct buf window; /* bytes from `start` on have not been taken */
	size_t start;
	bool ended;

	uint64_t size_bytes; /* in memory: of the whole */
	uint64_t offset;     /* of the next byte, counted from the stream's beginning */
};

void stream_of_memory(struct stream *stream, const uint8_t *data, size_t size,
					  const struct os_map *map);
/* `most` limits how far a caller can look ahead. */
void stream_of_reader(struct stream *stream, stream_read_fn read, void *context, size_t most);
void stream_free(struct stream *stream);
/* Frees the memory of a stream that was read to its end; it stays at its end. */
void stream_release(struct stream *stream);

/* The next bytes without taking them: at least `wanted`, fewer only at the end. Valid until the
 * next call. */
int stream_peek(struct jw_error *err, struct stream *stream, size_t wanted,
				const uint8_t **ret_data, size_t *ret_size);
/* Takes `size` bytes, fewer at the end of the stream. */
int stream_skip(struct jw_error *err, struct stream *stream, uint64_t size);

/* Releases the mapped pages before `at`, if there are enough of them; *forgotten: the end of the
 * released ones. */
void stream_forget(const struct stream *stream, uint64_t at, uint64_t *forgotten);
