#include "devcode/search.h"

#include "base/cursor.h"
#include "devcode/find_word.h"

enum {
	FORGET = 1 << 23, /* bytes of a mapping between two times of letting go of them */
};

struct range {
	const struct stream *stream;
	uint64_t at, end, forgotten;
};

/* Releases mapped pages that were read, so that resident memory stays small. */
static void forget(struct range *range)
{
	const struct os_map *map = range->stream->map;

	if (map && range->at - range->forgotten >= FORGET) {
		os_map_forget(map, (size_t)(range->stream->memory - map->data) + (size_t)range->forgotten,
					  (size_t)(range->at - range->forgotten));
		range->forgotten = range->at;
	}
}

/* The first word of a container that is none, or a broken one, is passed over. */
int search_range(struct jw_error *err, struct image *image, const struct stream *stream,
				 uint64_t from, uint64_t size)
{
	struct range range = {stream, from, from + size, from};

	while (range.at < range.end && range.end - range.at >= CONTAINER_HEADER) {
		const uint64_t left = range.end - range.at;
		const size_t step = left < FORGET ? (size_t)left : FORGET,
					 found = find_word(stream->memory + range.at, step, CONTAINER_START);
		const uint8_t *bytes;
		struct container_walk walk = {0};
		bool sound;

		range.at += found == step ? step / CONTAINER_ALIGN * CONTAINER_ALIGN : found;
		if (found == step && left < FORGET)
			break;
		if (found < step) {
			bytes = stream->memory + range.at;
			sound = container_check(&walk, bytes, range.end - range.at, range.end - range.at) ==
					CONTAINER_SOUND;
			if (sound ? image_entries(err, image, bytes, range.at, &walk) ||
							image_keep(err, image, bytes, 0, range.at, &walk)
					  : image_damage(err, image, range.at, &walk))
				return -1;
			range.at += sound ? walk.size_bytes : CONTAINER_ALIGN;
		}
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
