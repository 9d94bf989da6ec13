#include "code/search.h"

#include <string.h>

#include "base/cursor.h"
#include "code/find_bytes.h"
#include "code/lanes.h"

enum { STEP = 1 << 22 }; /* bytes that are searched between two questions whether to end */

size_t search_container(const uint8_t *bytes, size_t size, size_t left)
{
	uint8_t start[8];

	store_u64(start, container_start());
	return find_bytes(bytes, size, left, start, sizeof start);
}

size_t search_clear(const uint8_t *bytes, size_t size)
{
	const char first = (char)(uint8_t)CONTAINER_START,
			   second = (char)(uint8_t)(CONTAINER_START >> 8);
	size_t at = 0;

	for (; size - at > FIND_BLOCK; at += FIND_BLOCK) {
		lanes hits = {0};

		/* Looks for the first two bytes of a container, and for ".v". */
		for (size_t i = 0; i < FIND_BLOCK; i += LANES) {
			const lanes here = lanes_load(bytes + at + i), next = lanes_load(bytes + at + i + 1);

			hits |= (lanes_equal(here, first) & lanes_equal(next, second)) |
					(lanes_equal(here, '.') & lanes_equal(next, 'v'));
		}
		if (lanes_any(hits))
			break;
	}
	return at;
}

struct range_search search_range(uint64_t begin, uint64_t end, bool texts)
{
	return (struct range_search){.end = end,
								 .texts = texts,
								 .at = begin,
								 .text = begin,
								 .free = begin,
								 .forgotten = begin,
								 .asked = begin,
								 .hit = UINT64_MAX};
}

/* Finds the next text whose ".version" begins before search->at, which moves after it. Returns 1
 * if it was kept. */
static int search_text(struct jw_error *err, struct image *image, const struct stream *stream,
					   struct range_search *search)
{
	while (search->text < search->at && search->text < search->end) {
		const uint8_t *bytes = stream->memory + search->text;
		const size_t left = (size_t)(search->end - search->text), kept = image->count;
		const size_t wanted = (size_t)(search->at - search->text),
					 size = wanted < left ? wanted : left, found = ptx_text_find(bytes, size, left);
		size_t taken = 0;

		search->text += found;
		if (found < size &&
			image_text(err, image, bytes + found, (size_t)(search->text - search->free),
					   left - found, search->text, &taken))
			return -1;
		search->text += taken;
		search->at = search->at > search->text ? search->at : search->text;
		if (image->count > kept) {
			search->free = search->text;
			return 1;
		}
	}
	return 0;
}

int search_range_next(struct jw_error *err, struct image *image, const struct stream *stream,
					  struct range_search *search, const struct jw_cancel *cancel)
{
	for (;;) {
		const int text = search->texts ? search_text(err, image, stream, search) : 0;
		const uint8_t *bytes;
		uint64_t left;
		size_t clear, rest, step, found;

		if (text)
			return text;
		/* The container at this place counts unless a text includes the place. */
		if (search->at == search->hit) {
			const uint8_t *start = stream->memory + search->hit;
			const uint64_t most = search->end - search->hit;
			struct container_walk walk = {0};

			search->hit = UINT64_MAX;
			if (most < CONTAINER_HEADER)
				return 0;
			if (container_check(&walk, start, most, most) == CONTAINER_SOUND) {
				if (image_entries(err, image, start, search->at, &walk) ||
					image_keep(err, image, start, 0, search->at, &walk))
					return -1;
				search->at += walk.size_bytes;
				search->text = search->free = search->at;
				return 1;
			}
			if (image_damage(err, image, search->at, &walk))
				return -1;
			/* The first word of a broken container, or of a chance hit, is skipped. */
			search->at += CONTAINER_START_SIZE;
			search->text = search->at;
		}
		stream_forget(stream, search->at, &search->forgotten);
		if (search->at >= search->end)
			return 0;
		if (search->at - search->asked >= STEP) {
			if (cancel_check(err, cancel))
				return -1;
			search->asked = search->at;
		}
		bytes = stream->memory + search->at;
		left = search->end - search->at < STEP ? search->end - search->at : STEP;
		clear = search_clear(bytes, (size_t)left);
		rest = (size_t)left - clear;
		step = rest < FIND_BLOCK ? rest : FIND_BLOCK;
		found = search_container(bytes + clear, step, (size_t)(search->end - search->at) - clear);
		search->text = search->text == search->at ? search->at + clear : search->text;
		search->at += clear + found;
		search->hit = found < step ? search->at : UINT64_MAX;
	}
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

/* ---- in a stream */

enum {
	CHUNK = 1 << 18,     /* bytes that are searched at once */
	MAX_WHOLE = 1 << 22, /* maximum size of a container that is held as a whole */
	MAX_HEAD = 1 << 20,  /* the most bytes kept of a stream's beginning: headers */
	AROUND = 1 << 13,    /* bytes kept before and after the name of the table of section names */
	SMALL_CUBIN =
		2 * CONTAINER_CUBIN_HEAD, /* a cubin of this size is held, since it may have no symbols */
};

/* Returns the place where the table of an ELF's section names may be, which contains its own name;
 * NULL if there is none. */
static const uint8_t *find_section_names(const uint8_t *data, size_t size)
{
	static const char own[] = ".shstrtab";
	const uint8_t *end = data + size, *at = data;

	while ((size_t)(end - at) >= sizeof own &&
		   (at = memchr(at, '.', (size_t)(end - at) - sizeof own + 1))) {
		if (!memcmp(at, own, sizeof own))
			return at;
		at++;
	}
	return NULL;
}

/* Keeps the bytes around the last table that may be the section names, in whichever pieces they
 * come. */
static void keep_section_names(struct stream_search *search, const uint8_t *data, size_t size)
{
	struct buf *names = &search->names, *recent = &search->recent;
	const uint8_t *own = find_section_names(data, size);
	const size_t at = own ? (size_t)(own - data) : 0, last = size < AROUND ? size : AROUND;

	names->most = recent->most = 2 * AROUND;
	if (own) {
		const size_t from = at > AROUND ? at - AROUND : 0, before = from ? 0 : recent->size,
					 left = size - from;

		buf_clear(names);
		search->names_from = search->stream->offset + from - before;
		(void)buf_append(NULL, names, recent->data, before);
		(void)buf_append(NULL, names, data + from,
						 left < names->most - before ? left : names->most - before);
	} else if (search->names_from + names->size == search->stream->offset) {
		(void)buf_append(NULL, names, data,
						 size < names->most - names->size ? size : names->most - names->size);
	}
	if (recent->size > AROUND - last) {
		const size_t kept = AROUND - last;

		memmove(recent->data, recent->data + recent->size - kept, kept);
		recent->size = kept;
	}
	(void)buf_append(NULL, recent, data + size - last, last);
}

/* Takes `size` bytes of the window, and keeps those that are needed later. */
static int take_stream(struct jw_error *err, struct stream_search *search, const uint8_t *data,
					   size_t size)
{
	struct stream *stream = search->stream;
	struct buf *head = &search->head, *tail = &search->tail;
	const size_t last = size < PTX_TEXT_BEFORE ? size : PTX_TEXT_BEFORE,
				 room = PTX_TEXT_BEFORE - last,
				 old = search->before_size < room ? search->before_size : room;

	memmove(search->before, search->before + search->before_size - old, old);
	memcpy(search->before + old, data + size - last, last);
	search->before_size = old + last;
	if (head->size < MAX_HEAD) {
		const size_t left = MAX_HEAD - head->size;

		/* Allocates all of it at once: growing would hold it twice, and memory that is never
		 * written costs nothing. */
		head->most = MAX_HEAD;
		(void)buf_reserve(NULL, head, left);
		(void)buf_append(NULL, head, data, size < left ? size : left);
	}
	if (search->tail_from != UINT64_MAX && stream->offset + size > search->tail_from) {
		const size_t skipped =
			stream->offset < search->tail_from ? (size_t)(search->tail_from - stream->offset) : 0;
		const size_t fresh = size - skipped, left = SEARCH_MAX_TAIL - tail->size;

		/* Bytes after the headers are not needed: patchelf puts a string table there. */
		tail->most = SEARCH_MAX_TAIL;
		(void)buf_append(NULL, tail, data + skipped, fresh < left ? fresh : left);
	}
	if (search->tail_from != UINT64_MAX && search->image->count)
		keep_section_names(search, data, size);
	return stream_skip(err, stream, size);
}

enum { WORDS = 64 }; /* words compared between two branches */

/* Returns the first offset of the little-endian number `wanted` in `bytes`, among multiples of
 * eight; `size` if it does not occur. A last piece of less than eight bytes is not searched. */
static size_t find_word(const uint8_t *bytes, size_t size, uint64_t wanted)
{
	uint8_t pattern[8];
	uint64_t native;
	size_t at = 0;

	store_u64(pattern, wanted);
	memcpy(&native, pattern, 8); /* in the machine's own byte order */
	while (size - at >= WORDS * 8) {
		uint64_t hits = 0;

		/* Without a branch this runs at memory speed. */
		for (size_t i = 0; i < WORDS; i++) {
			uint64_t word;

			memcpy(&word, bytes + at + i * 8, 8);
			hits |= (uint64_t)(word == native);
		}
		if (hits)
			break;
		at += WORDS * 8;
	}
	for (; size - at >= 8; at += 8)
		if (!memcmp(bytes + at, pattern, 8))
			return at;
	return size;
}

/* Records wrappers that begin before `end`; `size` bytes are available. */
static int note_wrappers(struct jw_error *err, struct image *image, uint64_t offset,
						 const uint8_t *data, size_t at, size_t end, size_t size)
{
	for (; at < end; at += WRAPPER_ALIGN) {
		at += find_word(data + at, end - at, WRAPPER_LINKED);
		if (at < end && size - at >= WRAPPER_SIZE &&
			image_wrapper(err, image, offset + at, load_u64(data + at + WRAPPER_DATA_AT)))
			return -1;
	}
	return 0;
}

/* Skips `size` bytes of a large container, and holds them if `hold` is set. *broken is set if the
 * stream ends before. */
static int pass(struct jw_error *err, struct stream_search *search, bool hold, uint64_t size,
				bool *broken)
{
	while (size && !*broken) {
		const uint8_t *data;
		size_t got;

		if (stream_peek(err, search->stream, size < CHUNK ? (size_t)size : CHUNK, &data, &got))
			return -1;
		got = got < size ? got : (size_t)size;
		*broken = !got;
		if ((hold && buf_append(err, &search->held, data, got)) ||
			take_stream(err, search, data, got))
			return -1;
		size -= got;
	}
	return 0;
}

/* Reads a large container. If it is damaged, the search continues after its sound part; entries
 * inside cannot be examined again. */
static int visit_large(struct jw_error *err, struct stream_search *search, uint64_t size_bytes)
{
	struct image *image = search->image;
	struct buf *held = &search->held;
	const uint64_t offset = search->stream->offset;
	struct container_walk walk = {.at = CONTAINER_HEADER, .size_bytes = size_bytes};
	bool broken = false;

	*held = BUF_MAX(DEVCODE_MAX_STREAMED);
	if (pass(err, search, true, CONTAINER_HEADER, &broken))
		return -1;
	while (!broken && walk.at < size_bytes) {
		const uint64_t start = walk.at, at = held->size;
		const uint8_t *data;
		uint64_t payload, lead;
		uint32_t header = 0;
		size_t got;
		bool whole, cubin;

		if (stream_peek(err, search->stream, CONTAINER_ENTRY, &data, &got))
			return -1;
		broken = size_bytes - start < CONTAINER_ENTRY || got < CONTAINER_ENTRY ||
				 !container_step(&walk, data, &header);
		if (broken)
			break;
		payload = walk.at - start - header;
		cubin = (load_u32(data) & 0xffff) == DEVCODE_KIND_CUBIN;
		whole = devcode_kind_is_ptx(load_u32(data) & 0xffff) || (cubin && payload <= SMALL_CUBIN);
		lead = whole || !cubin ? 0 : CONTAINER_CUBIN_HEAD;
		if (pass(err, search, true, header, &broken) || pass(err, search, true, lead, &broken) ||
			pass(err, search, whole, payload - lead, &broken) ||
			image_entry_room(err, image, walk.entries))
			return -1;
		if (!broken) {
			struct devcode_entry *entry = &image->entries[walk.entries - 1];

			(void)container_entry(held->data, held->size, at, offset + start - at, entry);
			held->size -= (size_t)lead;
			if (!whole)
				entry->payload_offset = DEVCODE_NOT_HELD;
		}
	}
	return broken ? image_damage(err, image, offset, &walk)
				  : image_keep(err, image, held->data, held->size, offset, &walk);
}

/* Reads as much of a possible container into the window as is needed to recognise it. */
static int visit_container(struct jw_error *err, struct stream_search *search)
{
	struct stream *stream = search->stream;
	struct container_walk walk = {.needed = CONTAINER_HEADER};
	enum container_state state = CONTAINER_MORE;
	const uint8_t *data = NULL;

	while (state == CONTAINER_MORE) {
		size_t got;

		if (walk.size_bytes > MAX_WHOLE)
			return visit_large(err, search, walk.size_bytes);
		if (stream_peek(err, stream, (size_t)walk.needed, &data, &got))
			return -1;
		state =
			got < walk.needed ? CONTAINER_BROKEN : container_check(&walk, data, got, UINT64_MAX);
	}
	if (state == CONTAINER_BROKEN) {
		if (image_damage(err, search->image, stream->offset, &walk))
			return -1;
		return take_stream(err, search, data, CONTAINER_START_SIZE);
	}
	search->behind = (size_t)walk.size_bytes;
	if (image_entries(err, search->image, data, stream->offset, &walk))
		return -1;
	return image_keep(err, search->image, data, 0, stream->offset, &walk);
}

/* Reads the whole text at a ".version" into the window. */
static int visit_text(struct jw_error *err, struct stream_search *search)
{
	struct stream *stream = search->stream;
	struct buf *text = &search->held;
	size_t size = 0, needed = 0;
	const uint8_t *data;

	for (size_t wanted = CHUNK;; wanted *= 2) {
		if (stream_peek(err, stream, wanted, &data, &size))
			return -1;
		needed = image_text_needs(search->image, data, size, stream->offset);
		if (needed <= size || size < wanted || wanted >= PTX_TEXT_MAX)
			break;
	}
	*text = BUF_MAX(PTX_TEXT_BEFORE + PTX_TEXT_MAX);
	if (buf_append(err, text, search->before, search->before_size) ||
		buf_append(err, text, data, needed < size ? needed : size))
		return -1;
	return image_text(err, search->image, text->data + search->before_size, search->before_size,
					  text->size - search->before_size, stream->offset, &search->behind);
}

/* Takes the bytes of the last container or text. */
static int leave_found(struct jw_error *err, struct stream_search *search)
{
	const size_t behind = search->behind;
	const uint8_t *data;
	size_t size;

	buf_free(&search->held);
	search->behind = 0;
	if (!behind)
		return 0;
	if (stream_peek(err, search->stream, behind, &data, &size))
		return -1;
	return take_stream(err, search, data, behind);
}

int search_stream_next(struct jw_error *err, struct stream_search *search)
{
	struct image *image = search->image;
	struct stream *stream = search->stream;
	const bool texts = image->format == DEVCODE_ELF || image->format == DEVCODE_PE;

	if (leave_found(err, search))
		return -1;
	if (image->count)
		search->before_size = 0;
	for (;;) {
		const size_t kept = image->count;
		const uint8_t *data;
		size_t size, skew, end, found, text;
		bool last;

		if (stream_peek(err, stream, CHUNK, &data, &size))
			return -1;
		/* Wrappers lie at multiples of eight. One at the very end of a window is left to the next
		 * one. */
		last = size < CHUNK;
		skew = (size_t)((WRAPPER_ALIGN - stream->offset % WRAPPER_ALIGN) % WRAPPER_ALIGN);
		end = last ? size : skew + (size - WRAPPER_SIZE - skew) / WRAPPER_ALIGN * WRAPPER_ALIGN;
		found = search_container(data, end, size);
		text = texts ? ptx_text_find(data, found, size) : found;
		if (note_wrappers(err, image, stream->offset, data, skew, text, size))
			return -1;
		if (text < found) {
			if (take_stream(err, search, data, text) || visit_text(err, search))
				return -1;
			if (image->count > kept)
				return 1;
			if (leave_found(err, search))
				return -1;
		} else if (found < end) {
			if (take_stream(err, search, data, found) || visit_container(err, search))
				return -1;
			if (image->count > kept)
				return 1;
			buf_free(&search->held);
			search->before_size = 0;
		} else if (take_stream(err, search, data, end)) {
			return -1;
		} else if (last) {
			return 0;
		}
	}
}

void search_stream_free(struct stream_search *search)
{
	buf_free(&search->head);
	buf_free(&search->tail);
	buf_free(&search->names);
	buf_free(&search->recent);
	buf_free(&search->held);
}
