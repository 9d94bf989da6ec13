#include "bake/baked_output.h"

#include "bake/pe_checksum.h"
#include "base/mem.h"

int baked_output_open(struct jw_error *err, const char *path, struct os_map *map,
					  const char *output, const struct in_place *in_place,
					  struct container_room *rooms, size_t room_count,
					  struct baked_output *ret_output)
{
	*ret_output = (struct baked_output){.path = path,
										.output = output,
										.map = map,
										.in_place = in_place,
										.rooms = rooms,
										.room_count = room_count,
										.bytes = BUF_MAX(DEVCODE_MOST_PAYLOAD)};
	return grow_check(err, map, rooms, room_count);
}

static int begin_baked_output(struct jw_error *err, struct baked_output *output)
{
	return output->copy.file ? 0
							 : in_place_begin(err, output->in_place, output->path, output->map,
											  output->output, &output->copy);
}

/* Tries once whether the file can become longer. */
static int open_grow(struct jw_error *err, struct baked_output *output)
{
	if (output->grow || output->no_grow.code ||
		!grow_open(&output->no_grow, output->map, output->rooms, output->room_count, &output->grow))
		return 0;
	return output->no_grow.code == JW_ERR_MEMORY ? error_copy(err, &output->no_grow) : 0;
}

static int move_container(struct jw_error *err, struct baked_output *output,
						  const struct container_edit *in_place, struct baked_put *put)
{
	const struct container_room room = {in_place->container->offset,
										in_place->container->size_bytes};
	struct container_edit edit = *in_place;
	struct baked_put moved = {.moved = true};
	bool fits, last;

	if (open_grow(err, output))
		return -1;
	if (!output->grow) {
		put->why = output->no_grow;
		return 0;
	}
	edit.anywhere = true;
	do {
		if (container_edit(err, &edit, &output->bytes, &moved.room, &moved.dropped))
			return -1;
		fits = !grow_may_move(&put->why, output->grow, &room, output->bytes.size);
		last = edit.smallest || !edit.zstd;
		edit.smallest = true;
	} while (!fits && !last);
	if (!fits)
		return 0;
	if (begin_baked_output(err, output) ||
		grow_move(err, output->grow, &output->copy, &room, output->bytes.data, output->bytes.size))
		return -1;
	*put = moved;
	output->moved = true;
	return 0;
}

int baked_output_put(struct jw_error *err, struct baked_output *output,
					 const struct container_edit *edit, bool may_move, struct baked_put *ret_put)
{
	struct baked_put put = {0};

	if (container_edit(err, edit, &output->bytes, &put.room, &put.dropped))
		return -1;
	if (put.room == CONTAINER_EDIT_NO_ROOM) {
		error_fill(&put.why, JW_ERR_UNSUPPORTED, "it has no wrapper");
		if (may_move && move_container(err, output, edit, &put))
			return -1;
	} else if (begin_baked_output(err, output) ||
			   baked_copy_write(err, &output->copy, edit->container->offset, output->bytes.data,
								output->bytes.size)) {
		return -1;
	}
	*ret_put = put;
	return 0;
}

/* The rooms of containers that moved get others, or zeros, at the end. */
int baked_output_settle(struct jw_error *err, struct baked_output *output, uint64_t until)
{
	return output->copy.file && !output->moved ? baked_copy_settle(err, &output->copy, until) : 0;
}

int baked_output_finish(struct jw_error *err, struct baked_output *output, uint64_t *ret_size_bytes)
{
	if (!output->copy.file)
		return 0;
	if ((output->grow && grow_finish(err, output->grow, &output->copy)) ||
		baked_copy_complete(err, &output->copy) || pe_checksum_renew(err, &output->copy))
		return -1;
	*ret_size_bytes = output->copy.changes.size_after_bytes;
	return in_place_put(err, output->in_place, &output->copy, output->map);
}

void baked_output_drop(struct baked_output *output)
{
	baked_copy_drop(&output->copy);
	grow_free(output->grow);
	mem_free(output->rooms);
	buf_free(&output->bytes);
	*output = (struct baked_output){0};
}
