#include "share/object_place.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "share/object_s3.h"
#include "share/web.h"

struct object_place {
	struct object_backend backend;
	void *state;
};

static bool is_web_place(const char *place)
{
	return text_starts(place, "https://") || text_starts(place, "http://");
}

int jw_share_check(struct jw_error *err, const struct jw_share_options *options)
{
	const char *place = options->place;
	char bucket[64], prefix[WEB_TEXT], name[300];
	struct jw_error why = {0};

	if (text_starts(place, "s3://"))
		return object_s3_parse(err, place, bucket, prefix);
	if (is_web_place(place) && web_check_address(err, place))
		return -1;
	if (is_web_place(place))
		return web_may_ask(&why,
						   &(struct web_hosts){options->insecure, options->insecure_hosts,
											   options->insecure_host_count, false},
						   place)
				   ? error_set(err, JW_ERR_USAGE, "%s", why.message)
				   : 0;
	if (*place && !strstr(place, "://"))
		return os_may_be_folder(err, place); /* on a server it may come later */
	return error_set(err, JW_ERR_USAGE,
					 "“%s”: a shared place is a directory, https://HOST/PATH or s3://BUCKET/PREFIX",
					 text_address(name, sizeof name, place));
}

struct object_place *object_place_open(struct jw_error *err, const struct jw_share_options *options,
									   _Atomic uint64_t *moved)
{
	struct object_place *place = mem_alloc(err, sizeof *place);

	if (!place)
		return NULL;
	place->state = is_web_place(options->place) || text_starts(options->place, "s3://")
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

bool object_place_has(struct object_place *place, const char *name)
{
	return place->backend.has(place->state, name);
}

int64_t object_place_later(const struct object_place *place)
{
	return place->backend.later ? place->backend.later(place->state) : -1;
}

void object_place_forget(struct object_place *place, const char *name)
{
	if (place->backend.forget)
		place->backend.forget(place->state, name);
}
