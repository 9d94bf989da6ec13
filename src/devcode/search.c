#include "devcode/search.h"

#include <string.h>

#include "base/cursor.h"

enum { BLOCK = 64 }; /* words compared between two branches */

/* Whether one of BLOCK words is `wanted`. Has no branch: the loop runs at memory speed. */
static bool block_holds(const uint8_t *bytes, uint64_t wanted)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < BLOCK; i++) {
		uint64_t word;

		memcpy(&word, bytes + i * 8, 8);
		hits |= (uint64_t)(word == wanted);
	}
	return hits != 0;
}

size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted)
{
	uint8_t pattern[8];
	uint64_t native;
	size_t at = 0;

	store_u64(pattern, wanted);
	memcpy(&native, pattern, 8); /* in the machine's own byte order */
	while (size - at >= BLOCK * 8 && !block_holds(bytes + at, native))
		at += BLOCK * 8;
	for (; size - at >= 8; at += 8)
		if (!memcmp(bytes + at, pattern, 8))
			return at;
	return size;
}

enum { STEP = PTX_TEXT_BLOCK };

/* A place in the search: the limits for containers and for texts, and the unassigned bytes. */
struct search_place {
	const struct search *search;
	uint64_t at, text, free;
};

/* Takes the texts whose ".version" begins before place->at, which moves behind the last one. */
static int search_texts(struct jw_error *err, struct image *image, const struct stream *stream,
						struct search_place *place)
{
	const uint64_t end = place->search->end;

	while (place->text < place->at && place->text < end) {
		const uint8_t *bytes = stream->memory + place->text;
		const size_t left = (size_t)(end - place->text), kept = image->count;
		const size_t wanted = (size_t)(place->at - place->text),
					 size = wanted < left ? wanted : left, found = ptx_text_find(bytes, size, left);
		size_t taken = 0;

		place->text += found;
		if (found < size &&
			image_text(err, image, bytes + found, (size_t)(place->text - place->free), left - found,
					   place->text, &taken))
			return -1;
		place->text += taken;
		place->free = image->count > kept ? place->text : place->free;
		while (place->at < place->text)
			place->at += CONTAINER_ALIGN;
	}
	return 0;
}

int search_range(struct jw_error *err, struct image *image, const struct stream *stream,
				 const struct search *search)
{
	struct search_place place = {
		.search = search, .at = search->from, .text = search->begin, .free = search->begin};
	uint64_t forgotten = search->begin;

	while (place.at < search->end) {
		const uint64_t left = search->end - place.at;
		const uint8_t *bytes = stream->memory + place.at;
		const size_t clear = ptx_text_clear(bytes, (size_t)left), rest = (size_t)left - clear,
					 step = rest < STEP ? rest : STEP,
					 found = find_word(bytes + clear, step, CONTAINER_START);
		const uint64_t here = place.at + clear + found;

		place.text = place.text == place.at ? place.at + clear : place.text;
		place.at = here;
		if (search->texts && search_texts(err, image, stream, &place))
			return -1;
		if (place.at == here && found < step) {
			const uint8_t *start = stream->memory + here;
			struct container_walk walk = {0};
			bool sound;

			if (search->end - here < CONTAINER_HEADER)
				break;
			sound = container_check(&walk, start, search->end - here, search->end - here) ==
					CONTAINER_SOUND;
			if (sound ? image_entries(err, image, start, here, &walk) ||
							image_keep(err, image, start, 0, here, &walk)
					  : image_damage(err, image, here, &walk))
				return -1;
			/* Of a broken container, or of what is none, the first word is skipped. */
			place.at += sound ? walk.size_bytes : CONTAINER_ALIGN;
			place.free = sound ? place.at : place.free;
			place.text = place.at;
		}
		stream_forget(stream, place.at, &forgotten);
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

/* Containers in a stream. Of a large one only headers and PTX are kept. */

enum {
	CHUNK = 1 << 18,      /* searched in one go */
	MOST_WHOLE = 1 << 22, /* maximum size of a container that is held as a whole */
	MOST_HEAD = 1 << 20,  /* maximum that is kept of a stream's beginning: headers */
};
#define MOST_STREAM (UINT64_C(1) << 36) /* no file in an archive is larger, except bombs */

static int keep_head(struct jw_error *err, struct buf *head, const uint8_t *data, size_t size)
{
	size_t room = MOST_HEAD - head->size;

	/* Allocates all of it at once: growing would hold it twice, and memory that is never written
	 * takes no room. */
	head->most = MOST_HEAD;
	return buf_reserve(err, head, room) || buf_append(err, head, data, size < room ? size : room)
			   ? -1
			   : 0;
}

static int keep_tail(struct jw_error *err, struct capture *capture, uint64_t offset,
					 const uint8_t *data, size_t size)
{
	size_t before = offset < capture->tail_from ? (size_t)(capture->tail_from - offset) : 0;
	size_t fresh = size - before, room = CAPTURE_MOST_TAIL - capture->tail.size;

	/* Bytes behind the headers are not needed: patchelf puts a string table there. */
	capture->tail.most = CAPTURE_MOST_TAIL;
	return buf_append(err, &capture->tail, data + before, fresh < room ? fresh : room);
}

static void keep_before(struct capture *capture, const uint8_t *data, size_t size)
{
	const size_t fresh = size < PTX_TEXT_BEFORE ? size : PTX_TEXT_BEFORE;
	const size_t room = PTX_TEXT_BEFORE - fresh;
	const size_t old = capture->before_size < room ? capture->before_size : room;

	memmove(capture->before, capture->before + capture->before_size - old, old);
	memcpy(capture->before + old, data + size - fresh, fresh);
	capture->before_size = old + fresh;
}

/* Takes `size` bytes of the window, and keeps those that will be needed. */
static int take_bytes(struct jw_error *err, struct stream *stream, struct capture *capture,
					  const uint8_t *data, size_t size)
{
	keep_before(capture, data, size);
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

/* Records wrappers that begin before `end`; `size` bytes are available. */
static int note_wrappers(struct jw_error *err, struct image *image, uint64_t offset,
						 const uint8_t *data, size_t at, size_t end, size_t size)
{
	for (; at < end; at += 8) {
		at += find_word(data + at, end - at, WRAPPER_LINKED);
		if (at < end && size - at >= WRAPPER_SIZE &&
			image_wrapper(err, image, offset + at, load_u64(data + at + WRAPPER_DATA_AT)))
			return -1;
	}
	return 0;
}

struct large {
	struct image *image;
	struct stream *stream;
	struct capture *capture;
	uint64_t offset; /* of the container */
	struct container_walk walk;
	struct buf kept;
	bool broken;
};

/* Skips `size` bytes, and copies them to `kept` if it is given. */
static int pass(struct jw_error *err, struct large *large, struct buf *kept, uint64_t size)
{
	while (size && !large->broken) {
		const uint8_t *data;
		size_t got;

		if (stream_peek(err, large->stream, size < CHUNK ? (size_t)size : CHUNK, &data, &got))
			return -1;
		got = got < size ? got : (size_t)size;
		large->broken = !got;
		if ((kept && buf_append(err, kept, data, got)) ||
			take_bytes(err, large->stream, large->capture, data, got))
			return -1;
		size -= got;
	}
	return 0;
}

static int pass_entry(struct jw_error *err, struct large *large)
{
	const uint64_t start = large->walk.at, at = large->kept.size;
	struct image *image = large->image;
	const uint8_t *data;
	uint32_t header, kind;
	size_t got;

	if (stream_peek(err, large->stream, CONTAINER_ENTRY, &data, &got))
		return -1;
	large->broken = large->walk.size_bytes - start < CONTAINER_ENTRY || got < CONTAINER_ENTRY ||
					!container_step(&large->walk, data, &header);
	if (large->broken)
		return 0;
	kind = load_u32(data) & 0xffff;
	if (pass(err, large, &large->kept, header) ||
		pass(err, large, devcode_kind_is_ptx(kind) ? &large->kept : NULL,
			 large->walk.at - start - header) ||
		image_entry_room(err, image, large->walk.entries))
		return -1;
	if (!large->broken) {
		struct devcode_entry *entry = &image->entries[large->walk.entries - 1];

		(void)container_entry(large->kept.data, large->kept.size, at, large->offset + start - at,
							  entry);
		if (!devcode_kind_is_ptx(kind))
			entry->payload_offset = DEVCODE_NOT_HELD;
	}
	return 0;
}

/* If the container is damaged, the search continues behind its sound part. Entries inside cannot be
 * examined again. */
static int visit_large(struct jw_error *err, struct image *image, struct stream *stream,
					   struct capture *capture, const struct container_walk *walk)
{
	struct large large = {.image = image,
						  .stream = stream,
						  .capture = capture,
						  .offset = stream->offset,
						  .walk = {.at = CONTAINER_HEADER, .size_bytes = walk->size_bytes},
						  .kept = BUF_MAX(DEVCODE_MOST_STREAMED)};
	int result = pass(err, &large, &large.kept, CONTAINER_HEADER);

	while (!result && !large.broken && large.walk.at < large.walk.size_bytes)
		result = pass_entry(err, &large);
	if (!result)
		result = large.broken ? image_damage(err, image, large.offset, &large.walk)
							  : image_keep(err, image, large.kept.data, large.kept.size,
										   large.offset, &large.walk);
	buf_free(&large.kept);
	return result;
}

/* Reads as much of a possible container into the window as is needed to recognise it. */
static int visit_stream(struct jw_error *err, struct image *image, struct stream *stream,
						struct capture *capture)
{
	struct container_walk walk = {.needed = CONTAINER_HEADER};
	enum container_state state = CONTAINER_MORE;
	const uint8_t *data = NULL;

	while (state == CONTAINER_MORE) {
		size_t got;

		if (walk.size_bytes > MOST_WHOLE)
			return visit_large(err, image, stream, capture, &walk);
		if (stream_peek(err, stream, (size_t)walk.needed, &data, &got))
			return -1;
		state =
			got < walk.needed ? CONTAINER_BROKEN : container_check(&walk, data, got, UINT64_MAX);
	}
	if (state == CONTAINER_BROKEN)
		return image_damage(err, image, stream->offset, &walk) ||
					   take_bytes(err, stream, capture, data, CONTAINER_ALIGN)
				   ? -1
				   : 0;
	if (image_entries(err, image, data, stream->offset, &walk) ||
		image_keep(err, image, data, 0, stream->offset, &walk))
		return -1;
	return take_bytes(err, stream, capture, data, (size_t)walk.size_bytes);
}

/* At a ".version": reads the whole text into the window. */
static int visit_text(struct jw_error *err, struct image *image, struct stream *stream,
					  struct capture *capture)
{
	struct buf text = BUF_MAX(PTX_TEXT_BEFORE + PTX_TEXT_MOST);
	size_t size = 0, needed = 0, taken = 0, kept = image->count;
	const uint8_t *data;
	int result = -1;

	for (size_t wanted = CHUNK;; wanted *= 2) {
		if (stream_peek(err, stream, wanted, &data, &size))
			return -1;
		needed = image_text_needs(image, data, size, stream->offset);
		if (needed <= size || size < wanted || wanted >= PTX_TEXT_MOST)
			break;
	}
	if (!buf_append(err, &text, capture->before, capture->before_size) &&
		!buf_append(err, &text, data, needed < size ? needed : size) &&
		!image_text(err, image, text.data + capture->before_size, capture->before_size,
					text.size - capture->before_size, stream->offset, &taken))
		result = take_bytes(err, stream, capture, data, taken);
	if (image->count > kept)
		capture->before_size = 0;
	buf_free(&text);
	return result;
}

int search_stream(struct jw_error *err, struct image *image, struct stream *stream,
				  struct capture *capture)
{
	const bool texts = image->format == DEVCODE_ELF || image->format == DEVCODE_PE;

	for (;;) {
		const uint8_t *data;
		size_t size, whole, end, skew, found, limit, text;
		bool last;

		if (stream_peek(err, stream, CHUNK, &data, &size))
			return -1;
		/* A wrapper at the very end of a window is left to the next one. */
		last = size < CHUNK;
		whole = last ? size : size - WRAPPER_SIZE;
		/* After a text the window may begin at any offset. */
		skew = (size_t)(-stream->offset % CONTAINER_ALIGN);
		end = skew < whole ? skew + (whole - skew) / 8 * 8 : whole;
		found = skew < end ? skew + find_word(data + skew, end - skew, CONTAINER_START) : end;
		limit = found < end || !last ? found : size;
		text = texts ? ptx_text_find(data, limit, size) : limit;
		if (note_wrappers(err, image, stream->offset, data, skew, text < found ? text : found,
						  size))
			return -1;
		if (text < limit) {
			if (take_bytes(err, stream, capture, data, text) ||
				visit_text(err, image, stream, capture))
				return -1;
		} else if (found < end) {
			if (take_bytes(err, stream, capture, data, found) ||
				visit_stream(err, image, stream, capture))
				return -1;
			capture->before_size = 0;
		} else if (take_bytes(err, stream, capture, data, last ? size : found)) {
			return -1;
		} else if (last) {
			return 0;
		}
	}
}
