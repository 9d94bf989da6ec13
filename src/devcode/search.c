#include "devcode/search.h"

#include "base/cursor.h"
#include "devcode/find_word.h"

enum { STEP = 1 << 23 }; /* bytes that are searched before pages are released */

/* Skips the first word of a container that is broken or not a container. */
int search_range(struct jw_error *err, struct image *image, const struct stream *stream,
				 uint64_t from, uint64_t size)
{
	uint64_t at = from, end = from + size, forgotten = from;

	while (at < end && end - at >= CONTAINER_HEADER) {
		const uint64_t left = end - at;
		const size_t step = left < STEP ? (size_t)left : STEP,
					 found = find_word(stream->memory + at, step, CONTAINER_START);
		const uint8_t *bytes;
		struct container_walk walk = {0};
		bool sound;

		at += found == step ? step / CONTAINER_ALIGN * CONTAINER_ALIGN : found;
		if (found == step && left < STEP)
			break;
		if (found < step) {
			bytes = stream->memory + at;
			sound = container_check(&walk, bytes, end - at, end - at) == CONTAINER_SOUND;
			if (sound ? image_entries(err, image, bytes, at, &walk) ||
							image_keep(err, image, bytes, 0, at, &walk)
					  : image_damage(err, image, at, &walk))
				return -1;
			at += sound ? walk.size_bytes : CONTAINER_ALIGN;
		}
		stream_forget(stream, at, &forgotten);
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
