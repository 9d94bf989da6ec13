#include "devcode/code_stream.h"

#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/set.h"
#include "base/text.h"
#include "devcode/devcode.h"
#include "devcode/walk.h"

enum {
	FIRST = 1 << 12,        /* bytes to request when only the beginning is needed */
	COST_OF_WALK = 1 << 26, /* counts as so many bytes: directories are read and names compared */
};

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

struct request {
	struct devcode_part *parts;
	size_t count, done;
	struct set members; /* by name: the first of its parts */
	int (*piece)(struct jw_error *err, void *context, size_t part, const uint8_t *data,
				 size_t size);
	void *context;
	struct jw_error why; /* the last problem so far */
	const char *member;  /* of the part that could not be read, as far as known */
	bool stopped;        /* by `piece` */
};

static int copy(struct jw_error *err, struct request *request, size_t part, struct stream *stream)
{
	uint64_t left = request->parts[part].size_bytes;

	if (stream_skip(err, stream, request->parts[part].offset - stream->offset))
		return -1;
	while (left) {
		const uint8_t *data;
		size_t got, wanted = left < DEVCODE_PIECE ? (size_t)left : DEVCODE_PIECE;

		if (stream_peek(err, stream, wanted, &data, &got))
			return -1;
		if (got < wanted)
			return error_set(err, JW_ERR_FORMAT, "the file is shorter than it was");
		if (request->piece(err, request->context, part, data, wanted)) {
			request->stopped = true;
			return -1;
		}
		if (stream_skip(err, stream, wanted))
			return -1;
		left -= wanted;
	}
	return 0;
}

static uint64_t member_key(const char *member)
{
	return member ? fnv_update(FNV_START, member, strlen(member)) : 0;
}

static int visit_reread(struct jw_error *err, void *context, const char *member, enum kind kind,
						struct stream *stream)
{
	struct request *request = context;
	size_t cursor = 0, i;

	(void)err;
	(void)kind;
	while ((i = set_find(&request->members, member_key(member), &cursor)) != SET_NONE)
		for (; i < request->count && text_same(request->parts[i].member, member); i++) {
			struct devcode_part *part = &request->parts[i];

			if (part->done || part->offset < stream->offset)
				continue;
			if (copy(&request->why, request, i, stream)) {
				request->member = part->member;
				return request->stopped ? -1 : 0;
			}
			part->done = true;
			request->done++;
		}
	return request->stopped || request->done == request->count ? -1 : 0;
}

static void note_reread_trouble(void *context, const char *member, const struct jw_error *why)
{
	struct request *request = context;

	(void)member;
	request->why = *why;
}

static const char *first_missing(const struct request *request)
{
	for (size_t i = 0; i < request->count; i++)
		if (!request->parts[i].done)
			return request->parts[i].member;
	return NULL;
}

static int copy_parts(struct jw_error *err, const char *path, struct request *request,
					  const struct jw_cancel *cancel, uint64_t *again_bytes)
{
	struct visitor visitor = {request, visit_reread, note_reread_trouble, cancel, again_bytes};
	const char *member;

	for (size_t i = 0; i < request->count; i++) {
		struct devcode_part *part = &request->parts[i];

		part->done = false;
		if (!i || !text_same(part[-1].member, part->member))
			set_add(&request->members, member_key(part->member), i);
	}
	if (!request->count)
		return 0;
	if (walk_again(err, again_bytes, COST_OF_WALK))
		return -1;
	if (walk_file(err, &visitor, path) && !request->stopped && request->done < request->count)
		return -1;
	if (request->done == request->count)
		return 0;
	if (walk_cancelled(err, cancel) || walk_again(err, again_bytes, 0))
		return -1;
	if (request->stopped)
		return error_copy(err, &request->why);
	member = request->member ? request->member : first_missing(request);
	if (request->why.code)
		return error_set(err, request->why.code, "%s%s%s: %s", path, member ? ": " : "",
						 member ? member : "", request->why.message);
	return error_set(err, JW_ERR_NOT_FOUND, "%s: holds no %s any more", path,
					 member ? member : "device code");
}

int devcode_copy(struct jw_error *err, const char *path, struct devcode_part *parts, size_t count,
				 int (*piece)(struct jw_error *err, void *context, size_t part, const uint8_t *data,
							  size_t size),
				 void *context, const struct jw_cancel *cancel, uint64_t *again_bytes)
{
	struct request request = {.parts = parts, .count = count, .piece = piece, .context = context};
	const int result = copy_parts(err, path, &request, cancel, again_bytes);

	set_free(&request.members);
	return result;
}

static int append_part(struct jw_error *err, void *context, size_t part, const uint8_t *data,
					   size_t size)
{
	(void)part;
	return buf_append(err, context, data, size);
}

int devcode_reread(struct jw_error *err, const char *path, const struct devcode_part *part,
				   const struct jw_cancel *cancel, uint64_t *again_bytes, struct buf *ret_bytes)
{
	struct buf bytes = BUF_MAX((size_t)part->size_bytes);
	struct devcode_part wanted = *part;

	/* Only an uncompressed file may hold a container above the bound for archives. */
	if (part->size_bytes > SIZE_MAX / 2 ||
		(part->member && part->size_bytes > DEVCODE_MOST_STREAMED))
		return error_set(err, JW_ERR_LIMIT, "%s: %llu bytes wanted of it", path,
						 (unsigned long long)part->size_bytes);
	if (buf_reserve(err, &bytes, (size_t)part->size_bytes) ||
		devcode_copy(err, path, &wanted, 1, append_part, &bytes, cancel, again_bytes)) {
		buf_free(&bytes);
		return -1;
	}
	*ret_bytes = bytes;
	return 0;
}
