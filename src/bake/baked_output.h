/* The copy of one library while its containers are written: each in its room or another place */
#pragma once

#include "bake/baked_copy.h"
#include "bake/container_edit.h"
#include "bake/grow.h"
#include "bake/in_place.h"

struct baked_output {
	const char *path, *output;       /* of the library and of its copy; the caller keeps both */
	struct os_map *map;              /* the library */
	const struct in_place *in_place; /* NULL: `output` is another file */
	struct container_room *rooms;
	size_t room_count;
	struct baked_copy copy; /* copy.file NULL: no container has been written */
	struct grow *grow;
	struct jw_error no_grow; /* why there is none; JW_OK: not tried yet */
};

struct baked_put {
	bool moved;
	struct jw_error why; /* it was not written */
};

/* `rooms`: of all containers, by offset; taken over. JW_ERR_FORMAT: what the loader reads overlaps
 * them. baked_output_drop frees it. */
int baked_output_open(struct jw_error *err, const char *path, struct os_map *map,
					  const char *output, const struct in_place *in_place,
					  struct container_room *rooms, size_t room_count,
					  struct baked_output *ret_output);
/* Writes what container_edit has made of a container. Where that has no room it makes another one,
 * `form`, for another place, if there is one. The first container begins the copy. `may_move`: it
 * is a registered one. */
int baked_output_put(struct jw_error *err, struct baked_output *output,
					 const struct container_edit *edit, bool may_move, struct container_form *form,
					 struct baked_put *put);
/* Puts the copy into its place, if there is one, may close the map; *ret_size_bytes: its length */
int baked_output_finish(struct jw_error *err, struct baked_output *output,
						uint64_t *ret_size_bytes);
void baked_output_drop(struct baked_output *output);
