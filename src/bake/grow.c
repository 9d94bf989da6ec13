#include "bake/grow.h"

#include "bake/growing.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "devcode/container.h"

enum { MOST_FREE = 1 << 20 };

int grow_open(struct jw_error *err, const struct os_map *map, const struct container_room *rooms,
			  size_t count, struct grow **ret_grow)
{
	struct grow *grow = mem_alloc(sizeof *grow);

	grow->map = map;
	if (elf_grow_open(err, rooms, count, grow)) {
		grow_free(grow);
		return -1;
	}
	*ret_grow = grow;
	return 0;
}

void grow_free(struct grow *grow)
{
	if (!grow)
		return;
	elf_view_free(&grow->elf);
	mem_free(grow->free);
	mem_free(grow);
}

int grow_may_move(struct jw_error *err, const struct grow *grow, const struct container_room *room)
{
	uint64_t address;

	if (!room_pointers_only_wrappers(&grow->elf.pointers, room) ||
		!elf_view_address(&grow->elf, room->offset, room->size_bytes, &address))
		return error_set(err, JW_ERR_UNSUPPORTED, "something other than its wrapper points to it");
	return 0;
}

/* A former room, or the end of the new segment. */
static uint64_t take_free_place(struct grow *grow, size_t size, uint64_t *ret_address)
{
	uint64_t at;

	for (size_t i = 0; i < grow->free_count; i++) {
		struct container_room *room = &grow->free[i];

		if (room->size_bytes < size ||
			!elf_view_address(&grow->elf, room->offset, size, ret_address))
			continue;
		at = room->offset;
		room->offset += size;
		room->size_bytes -= size;
		return at;
	}
	at = grow->end;
	grow->end += size;
	*ret_address = at + grow->delta;
	return at;
}

/* It stays as it is until grow_finish: what is written is compared with the original. */
static int free_room(struct jw_error *err, struct grow *grow, const struct container_room *room)
{
	struct container_room *last = grow->free_count ? &grow->free[grow->free_count - 1] : NULL;

	if (last && last->offset + last->size_bytes == room->offset) {
		last->size_bytes += room->size_bytes;
		return 0;
	}
	if (VEC_ROOM(err, grow->free, grow->free_capacity, grow->free_count, MOST_FREE))
		return -1;
	grow->free[grow->free_count++] = *room;
	return 0;
}

/* The relocation gives the pointer's value; what is there counts where a library was prelinked */
static int point_to(struct jw_error *err, const struct grow *grow, struct baked_copy *copy,
					const struct room_pointer *reference, uint64_t before, uint64_t address)
{
	uint8_t value[8];

	store_u64(value, address);
	if (reference->addend_at &&
		baked_copy_write(err, copy, reference->addend_at, value, sizeof value))
		return -1;
	return load_u64(grow->map->data + reference->pointer_at) == before
			   ? baked_copy_write(err, copy, reference->pointer_at, value, sizeof value)
			   : 0;
}

int grow_move(struct jw_error *err, struct grow *grow, struct baked_copy *copy,
			  const struct container_room *room, const void *bytes, size_t size)
{
	const size_t padded = (size_t)grow_aligned(size, CONTAINER_ALIGN);
	uint64_t address, before, at;

	if (!elf_view_address(&grow->elf, room->offset, room->size_bytes, &before))
		return error_set(err, JW_ERR_FORMAT, "a container outside of all segments");
	if (free_room(err, grow, room))
		return -1;
	at = take_free_place(grow, padded, &address);
	if (baked_copy_write(err, copy, at, bytes, size))
		return -1;
	for (size_t i = room_pointers_first(&grow->elf.pointers, room->offset);
		 i < grow->elf.pointers.count && grow->elf.pointers.items[i].target == room->offset; i++)
		if (point_to(err, grow, copy, &grow->elf.pointers.items[i], before, address))
			return -1;
	if (!grow->moved++)
		grow->first_moved = room->offset;
	return 0;
}

static int clear_free_rooms(struct jw_error *err, const struct grow *grow, struct baked_copy *copy)
{
	for (size_t i = 0; i < grow->free_count; i++)
		if (baked_copy_clear(err, copy, grow->free[i].offset, grow->free[i].size_bytes))
			return -1;
	return 0;
}

int grow_finish(struct jw_error *err, struct grow *grow, struct baked_copy *copy)
{
	if (!grow->moved)
		return 0;
	return clear_free_rooms(err, grow, copy) || elf_grow_finish(err, grow, copy) ? -1 : 0;
}
