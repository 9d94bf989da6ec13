#include "devcode/search.h"

#include "base/cursor.h"
#include "devcode/find_word.h"

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
