#include "devcode/code_stream.h"

#include <string.h>

enum { FIRST = 1 << 12 }; /* bytes to request when only the beginning is needed */

void stream_of_memory(struct stream *stream, const uint8_t *data, size_t size,
					  const struct os_map *map)
{
	*stream = (struct stream){.memory = data, .size_bytes = size, .map = map, .ended = true};
}

void stream_of_reader(struct stream *stream, stream_read_fn read, void *context, size_t most)
{
	*stream =
		(struct stream){.read = read, .context = context, .window = BUF_MAX(most + STREAM_STEP)};
}

void stream_release(struct stream *stream)
{
	if (stream->memory || !stream->ended || stream->start < stream->window.size)
		return;
	buf_free(&stream->window);
	stream->start = 0;
}

void stream_free(struct stream *stream)
{
	buf_free(&stream->window);
}

/* Moves the held bytes to the front, to make room behind them. */
static void close_gap(struct stream *stream)
{
	size_t held = stream->window.size - stream->start;

	if (!stream->start)
		return;
	memmove(stream->window.data, stream->window.data + stream->start, held);
	stream->window.size = held;
	stream->start = 0;
}

static int fill_window(struct jw_error *err, struct stream *stream, size_t wanted)
{
	if (stream->window.size - stream->start >= wanted)
		return 0;
	close_gap(stream);
	while (!stream->ended && stream->window.size < wanted) {
		size_t step = wanted <= FIRST ? FIRST : STREAM_STEP, got = 0;

		if (buf_reserve(err, &stream->window, step) ||
			stream->read(err, stream->context, stream->window.data + stream->window.size, step,
						 &got))
			return -1;
		stream->window.size += got;
		stream->ended = !got;
	}
	return 0;
}

int stream_peek(struct jw_error *err, struct stream *stream, size_t wanted,
				const uint8_t **ret_data, size_t *ret_size)
{
	if (stream->memory) {
		*ret_data = stream->memory + stream->offset;
		*ret_size = (size_t)(stream->size_bytes - stream->offset);
		return 0;
	}
	if (fill_window(err, stream, wanted))
		return -1;
	*ret_data = stream->window.data + stream->start;
	*ret_size = stream->window.size - stream->start;
	return 0;
}

int stream_skip(struct jw_error *err, struct stream *stream, uint64_t size)
{
	while (size) {
		const uint8_t *data;
		size_t got;

		if (stream_peek(err, stream, size < STREAM_STEP ? (size_t)size : STREAM_STEP, &data, &got))
			return -1;
		if (!got)
			return 0;
		got = got < size ? got : (size_t)size;
		stream->start += stream->memory ? 0 : got;
		stream->offset += got;
		size -= got;
	}
	return 0;
}

int stream_take(struct jw_error *err, void *context, uint8_t *to, size_t size, size_t *ret_got)
{
	struct stream *stream = context;
	const uint8_t *data;
	size_t got;

	if (stream_peek(err, stream, size < STREAM_STEP ? size : STREAM_STEP, &data, &got))
		return -1;
	got = got < size ? got : size;
	if (got)
		memcpy(to, data, got);
	*ret_got = got;
	return stream_skip(err, stream, got);
}

void stream_forget(const struct stream *stream, uint64_t at, uint64_t *forgotten)
{
	enum { FORGET = 1 << 22 };
	const struct os_map *map = stream->map;

	if (*forgotten > at)
		*forgotten = at;
	if (map && at - *forgotten >= FORGET) {
		os_map_forget(map, (size_t)(stream->memory - map->data) + (size_t)*forgotten,
					  (size_t)(at - *forgotten));
		*forgotten = at;
	}
}
