#include "bake/room_pointers.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "code/image.h"

enum { MAX_POINTERS = 1 << 22 };

/* Returns the first container that ends after `offset`, the only one that can hold it; NULL if
 * there is none. */
static const struct container_room *room_behind(const struct room_pointers *pointers,
												uint64_t offset)
{
	size_t low = 0, high = pointers->room_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct container_room *room = &pointers->rooms[middle];

		if (room->offset + room->size_bytes <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < pointers->room_count ? &pointers->rooms[low] : NULL;
}

bool room_pointers_touch(const struct room_pointers *pointers, uint64_t offset, uint64_t size_bytes)
{
	const struct container_room *room = room_behind(pointers, offset);

	return room && size_bytes && (room->offset < offset || room->offset - offset < size_bytes);
}

bool room_pointers_hold(const struct room_pointers *pointers, uint64_t offset)
{
	return room_pointers_touch(pointers, offset, 1);
}

static bool is_wrapper_of_container(const struct room_pointers *pointers, uint64_t pointer_at)
{
	const uint8_t *pointer = pointers->map->data + pointer_at;
	uint32_t version;

	if (pointer_at < WRAPPER_DATA_AT || room_pointers_touch(pointers, pointer_at, 8) ||
		load_u32(pointer - WRAPPER_DATA_AT) != WRAPPER_MAGIC)
		return false;
	version = load_u32(pointer - WRAPPER_DATA_AT + 4);
	return version == 1 || version == 2;
}

int room_pointers_note(struct jw_error *err, struct room_pointers *pointers, uint64_t target,
					   uint64_t pointer_at, uint64_t addend_at)
{
	if (VEC_ROOM(err, pointers->items, pointers->capacity, pointers->count, MAX_POINTERS))
		return -1;
	pointers->items[pointers->count++] =
		(struct room_pointer){.target = target,
							  .pointer_at = pointer_at,
							  .addend_at = addend_at,
							  .wrapper = is_wrapper_of_container(pointers, pointer_at)};
	return 0;
}

static int by_target(const void *a, const void *b)
{
	const struct room_pointer *one = a, *two = b;

	return one->target < two->target ? -1 : one->target > two->target;
}

void room_pointers_sort(struct room_pointers *pointers)
{
	if (pointers->count)
		qsort(pointers->items, pointers->count, sizeof *pointers->items, by_target);
}

size_t room_pointers_first(const struct room_pointers *pointers, uint64_t target)
{
	size_t low = 0, high = pointers->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pointers->items[middle].target < target)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool room_pointers_only_wrappers(const struct room_pointers *pointers,
								 const struct container_room *room)
{
	const size_t first = room_pointers_first(pointers, room->offset);
	size_t i = first;

	for (; i < pointers->count && pointers->items[i].target - room->offset < room->size_bytes; i++)
		if (!pointers->items[i].wrapper || pointers->items[i].target != room->offset)
			return false;
	return i > first;
}

void room_pointers_free(struct room_pointers *pointers)
{
	mem_free(pointers->items);
	*pointers = (struct room_pointers){0};
}
