#include "bake/baking.h"

#include "bake/baked_copy.h"
#include "base/mem.h"

int baked_output_open(struct jw_error *err, struct baking *baking)
{
	const struct bake_places *places = &baking->places;

	baking->rooms = mem_array(places->count, sizeof *baking->rooms);
	for (size_t i = 0; i < places->count; i++)
		baking->rooms[i] =
			(struct container_room){places->items[i].offset, places->items[i].size_bytes};
	return grow_check(err, &baking->map, baking->rooms, places->count);
}

static int begin_copy(struct jw_error *err, struct baking *baking)
{
	return baking->copy.file ? 0
							 : baked_copy_begin(err, baking->file->path, &baking->map,
												baking->job->output, &baking->copy);
}

/* Tries once whether the file can become longer. */
static void open_grow(struct baking *baking)
{
	if (baking->grow || baking->no_grow.code ||
		!grow_open(&baking->no_grow, &baking->map, baking->rooms, baking->places.count,
				   &baking->grow))
		return;
}

static int move_container(struct jw_error *err, struct baking *baking,
						  const struct container_room *room, const struct container_form *form,
						  struct baked_put *put)
{
	struct buf bytes = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	int failed;

	open_grow(baking);
	if (!baking->grow) {
		put->why = baking->no_grow;
		return 0;
	}
	if (grow_may_move(&put->why, baking->grow, room))
		return 0;
	failed = begin_copy(err, baking) || container_form_join(err, form, &bytes) ||
			 grow_move(err, baking->grow, &baking->copy, room, bytes.data, bytes.size);
	buf_free(&bytes);
	put->written = put->moved = !failed;
	return failed ? -1 : 0;
}

/* Only zeros follow the shortened container, as between any two. */
static int write_in_room(struct jw_error *err, struct baking *baking,
						 const struct container_room *room, const struct container_form *form)
{
	struct baked_copy *copy = &baking->copy;
	uint64_t at = room->offset + sizeof form->header;

	if (begin_copy(err, baking) ||
		baked_copy_write(err, copy, room->offset, form->header, sizeof form->header))
		return -1;
	for (size_t i = 0; i < form->count; i++) {
		const size_t size = form->parts[i].size_bytes;

		if (baked_copy_write(err, copy, at, form->parts[i].bytes, size))
			return -1;
		at += size;
	}
	return baked_copy_clear(err, copy, at, room->offset + room->size_bytes - at);
}

int baked_output_put(struct jw_error *err, struct baking *baking, const struct container_form *form,
					 bool may_move, struct baked_put *put)
{
	const struct container_room room = {baking->container.offset, baking->container.size_bytes};

	*put = (struct baked_put){.written = form->size_bytes <= room.size_bytes};
	if (put->written)
		return write_in_room(err, baking, &room, form);
	error_fill(&put->why, JW_ERR_UNSUPPORTED, "it has no wrapper");
	return may_move ? move_container(err, baking, &room, form, put) : 0;
}

int baked_output_finish(struct jw_error *err, struct baking *baking, uint64_t *ret_size_bytes)
{
	if (baking->grow && grow_finish(err, baking->grow, &baking->copy))
		return -1;
	*ret_size_bytes = baking->copy.size_bytes;
	return baked_copy_finish(err, &baking->copy, baking->map.stat.mode);
}

void baked_output_drop(struct baking *baking)
{
	baked_copy_drop(&baking->copy);
	grow_free(baking->grow);
	mem_free(baking->rooms);
}
