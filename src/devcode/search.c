#include "devcode/search.h"

#include "base/cursor.h"
#include "devcode/find.h"

enum {
	CHUNK = 1 << 18,  /* of a stream, looked at in one go */
	FORGET = 1 << 25, /* bytes of a mapping between two times of letting go of them */
	MOST_HEAD =
		3 << 23, /* kept of a stream's beginning: the relocations of torch 1.4 end at 20 MB */
	MOST_TAIL = 1 << 22, /* and from where its section headers begin */
};
#define MOST_STREAM (UINT64_C(1) << 36) /* no file in an archive is larger, but bombs are */

/* ---- in memory */

struct range {
	const struct stream *stream;
	uint64_t at, end, forgotten;
};

/* Lets go of what has been read, so that resident memory stays small. */
static void forget(struct range *range)
{
	const struct os_map *map = range->stream->map;

	if (map && range->at - range->forgotten >= FORGET) {
		os_map_forget(map, (size_t)(range->stream->memory - map->data) + (size_t)range->forgotten,
					  (size_t)(range->at - range->forgotten));
		range->forgotten = range->at;
	}
}

/* At the start of what may be a container: past it, or past its first word. */
static int visit(struct jw_error *err, struct image *image, struct range *range)
{
	const uint8_t *bytes = range->stream->memory + range->at;
	uint64_t left = range->end - range->at;
	struct container_walk walk = {0};

	if (container_check(&walk, bytes, left, left) != CONTAINER_SOUND) {
		if (image_damage(err, image, range->at, &walk))
			return -1;
		range->at += CONTAINER_ALIGN;
		return 0;
	}
	if (image_container(err, image, bytes, range->at, &walk))
		return -1;
	range->at += walk.size_bytes;
	return 0;
}

int search_range(struct jw_error *err, struct image *image, const struct stream *stream,
				 uint64_t from, uint64_t size)
{
	struct range range = {stream, from, from + size, from};

	while (range.at < range.end && range.end - range.at >= CONTAINER_HEADER) {
		uint64_t left = range.end - range.at;
		size_t step = left < FORGET ? (size_t)left : FORGET,
			   found = find_word(stream->memory + range.at, step, CONTAINER_START);

		range.at += found == step ? step / CONTAINER_ALIGN * CONTAINER_ALIGN : found;
		if (found < step && visit(err, image, &range))
			return -1;
		if (found == step && left < FORGET)
			break;
		forget(&range);
	}
	return 0;
}

int search_wrappers(struct jw_error *err, struct image *image, const struct stream *stream,
					const struct section *section)
{
	const uint8_t *bytes = stream->memory + section->offset;

	for (uint64_t at = 0; section->size_bytes - at >= WRAPPER_SIZE; at += WRAPPER_SIZE)
		if (load_u64(bytes + at) == WRAPPER_LINKED &&
			image_wrapper(err, image, section->offset + at, load_u64(bytes + at + WRAPPER_DATA_AT)))
			return -1;
	return 0;
}

/* ---- streamed */

static int keep_head(struct jw_error *err, struct buf *head, const uint8_t *data, size_t size)
{
	size_t room = MOST_HEAD - head->size;

	/* All of it at once: growing would hold it twice, and what is never written takes no memory. */
	head->most = MOST_HEAD;
	return buf_reserve(err, head, room) || buf_append(err, head, data, size < room ? size : room)
			   ? -1
			   : 0;
}

static int keep_tail(struct jw_error *err, struct capture *capture, uint64_t offset,
					 const uint8_t *data, size_t size)
{
	size_t before = offset < capture->tail_from ? (size_t)(capture->tail_from - offset) : 0;
	size_t fresh = size - before, room = MOST_TAIL - capture->tail.size;

	/* What follows the headers is not wanted: patchelf leaves a string table there. */
	capture->tail.most = MOST_TAIL;
	return buf_append(err, &capture->tail, data + before, fresh < room ? fresh : room);
}

/* Takes `size` bytes that lie in the window, and keeps what is to be kept of them. */
static int take(struct jw_error *err, struct stream *stream, struct capture *capture,
				const uint8_t *data, size_t size)
{
	if (capture->head.size < MOST_HEAD && keep_head(err, &capture->head, data, size))
		return -1;
	if (capture->tail_from != UINT64_MAX && stream->offset + size > capture->tail_from &&
		keep_tail(err, capture, stream->offset, data, size))
		return -1;
	if (stream->offset > MOST_STREAM)
		return error_set(err, JW_ERR_LIMIT, "unpacks to more than %llu bytes",
						 (unsigned long long)MOST_STREAM);
	return stream_skip(err, stream, size);
}

/* Wrappers that begin before `end`, of which `size` bytes are there. */
static int note_wrappers(struct jw_error *err, struct image *image, uint64_t offset,
						 const uint8_t *data, size_t end, size_t size)
{
	for (size_t at = 0; at < end; at += 8) {
		at += find_word(data + at, end - at, WRAPPER_LINKED);
		if (at < end && size - at >= WRAPPER_SIZE &&
			image_wrapper(err, image, offset + at, load_u64(data + at + WRAPPER_DATA_AT)))
			return -1;
	}
	return 0;
}

/* At the start of what may be a container: brings as much of it into the window as it takes to
 * tell. */
static int visit_stream(struct jw_error *err, struct image *image, struct stream *stream,
						struct capture *capture)
{
	struct container_walk walk = {.needed = CONTAINER_HEADER};
	enum container_state state = CONTAINER_MORE;
	const uint8_t *data = NULL;

	while (state == CONTAINER_MORE) {
		size_t got;

		if (walk.needed > DEVCODE_MOST_STREAMED)
			return error_set(err, JW_ERR_LIMIT,
							 "a container of more than %d bytes, which has to be held in memory",
							 DEVCODE_MOST_STREAMED);
		if (stream_peek(err, stream, (size_t)walk.needed, &data, &got))
			return -1;
		state =
			got < walk.needed ? CONTAINER_BROKEN : container_check(&walk, data, got, UINT64_MAX);
	}
	if (state == CONTAINER_BROKEN)
		return image_damage(err, image, stream->offset, &walk) ||
					   take(err, stream, capture, data, CONTAINER_ALIGN)
				   ? -1
				   : 0;
	if (image_container(err, image, data, stream->offset, &walk))
		return -1;
	return take(err, stream, capture, data, (size_t)walk.size_bytes);
}

int search_stream(struct jw_error *err, struct image *image, struct stream *stream,
				  struct capture *capture)
{
	for (;;) {
		const uint8_t *data;
		size_t size, whole, found;
		bool last;

		if (stream_peek(err, stream, CHUNK, &data, &size))
			return -1;
		/* A wrapper at the very end of a window is left for the next one, all of it. */
		last = size < CHUNK;
		whole = last ? size : size - WRAPPER_SIZE;
		found = find_word(data, whole / 8 * 8, CONTAINER_START);
		if (note_wrappers(err, image, stream->offset, data, found, size))
			return -1;
		if (found < whole / 8 * 8) {
			if (take(err, stream, capture, data, found) ||
				visit_stream(err, image, stream, capture))
				return -1;
		} else if (take(err, stream, capture, data, last ? size : found)) {
			return -1;
		} else if (last) {
			return 0;
		}
	}
}
