#include "share/object_place.h"

#include "base/mem.h"
#include "base/text.h"

struct object_place {
	struct object_backend backend;
	void *state;
};

struct object_place *object_place_open(struct jw_error *err, const struct jw_share_options *options,
									   _Atomic uint64_t *moved)
{
	struct object_place *place = mem_alloc(err, sizeof *place);

	if (!place)
		return NULL;
	place->state = text_starts(options->place, "https://") ||
						   text_starts(options->place, "http://") ||
						   text_starts(options->place, "s3://")
					   ? object_web_open(err, options, moved, &place->backend)
					   : object_directory_open(err, options->place, &place->backend);
	if (place->state)
		return place;
	mem_free(place);
	return NULL;
}

void object_place_close(struct object_place *place)
{
	if (place)
		place->backend.close(place->state);
	mem_free(place);
}

int object_place_get(struct jw_error *err, struct object_place *place, const char *name,
					 uint64_t most_bytes, const char *path)
{
	return place->backend.get(err, place->state, name, most_bytes, path);
}

int object_place_put(struct jw_error *err, struct object_place *place, const char *name,
					 const char *path)
{
	return place->backend.put(err, place->state, name, path);
}

void object_place_forget(struct object_place *place, const char *name)
{
	if (place->backend.forget)
		place->backend.forget(place->state, name);
}
