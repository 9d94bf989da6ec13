#include "code/code_stream.h"

#include <string.h>

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

int stream_peek(struct jw_error *err, struct stream *stream, size_t wanted,
				const uint8_t **ret_data, size_t *ret_size)
{
	enum { FIRST = 1 << 12 }; /* bytes to request if only the beginning is needed */
	struct buf *window = &stream->window;

	if (stream->memory) {
		*ret_data = stream->memory + stream->offset;
		*ret_size = (size_t)(stream->size_bytes - stream->offset);
		return 0;
	}
	if (stream->start && window->size - stream->start < wanted) {
		window->size -= stream->start;
		memmove(window->data, window->data + stream->start, window->size);
		stream->start = 0;
	}
	while (!stream->ended && window->size - stream->start < wanted) {
		const size_t step = wanted <= FIRST ? FIRST : STREAM_STEP;
		size_t got = 0;

		if (buf_reserve(err, window, step) ||
			stream->read(err, stream->context, window->data + window->size, step, &got))
			return -1;
		window->size += got;
		stream->ended = !got;
	}
	*ret_data = window->data + stream->start;
	*ret_size = window->size - stream->start;
	return 0;
}

int stream_peek_copy(struct jw_error *err, struct stream *stream, size_t wanted, size_t mapped,
					 const uint8_t **ret_data, size_t *ret_size)
{
	struct buf *window = &stream->window;

	if (stream_peek(err, stream, wanted, ret_data, ret_size))
		return -1;
	if (!stream->map)
		return 0;
	*ret_size = *ret_size < mapped ? *ret_size : mapped;
	window->most = mapped;
	buf_clear(window);
	if (buf_append(err, window, *ret_data, *ret_size))
		return -1;
	*ret_data = window->data;
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
