/* In a program or library, every container that may move gets a larger place; the reader finds all
 * of them in the copy. */
#pragma once

#include <string.h>

#include "bake/grow.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "code/container.h"
#include "fuzz.h"
#include "os/folders.h"

enum { FUZZ_MAX_ROOMS = 256, FUZZ_MORE = 200, FUZZ_MAX_CONTAINER = 1 << 16 };

struct fuzz_rooms {
	struct container_room items[FUZZ_MAX_ROOMS];
	size_t count, moved;
	size_t images, troubles, damaged;
	enum devcode_format format;
	bool archive;
};

static inline void fuzz_note_rooms(struct fuzz_rooms *rooms, const struct devcode_image *image)
{
	rooms->images++;
	rooms->format = image->format;
	rooms->damaged += image->damaged;
	rooms->archive = rooms->archive || image->member;
	for (size_t i = 0; i < image->container_count && rooms->count < FUZZ_MAX_ROOMS; i++)
		rooms->items[rooms->count++] =
			(struct container_room){image->containers[i].offset, image->containers[i].size_bytes};
}

static inline void fuzz_read_rooms(const char *path, struct fuzz_rooms *rooms)
{
	struct code_reader *reader;
	struct code_found found;
	int step;

	*rooms = (struct fuzz_rooms){0};
	MUST(!code_open(NULL, path, NULL, &reader));
	while ((step = code_next(NULL, reader, &found)) > CODE_END) {
		if (step == CODE_IMAGE)
			fuzz_note_rooms(rooms, found.image);
		rooms->troubles += step == CODE_TROUBLE;
	}
	MUST(step == CODE_END);
	code_close(reader);
}

/* Makes a container longer than its space with an entry of a kind that nobody reads. */
static inline uint8_t *fuzz_longer(const uint8_t *old, uint64_t size, size_t *ret_size)
{
	const size_t longer = (size_t)(size + FUZZ_MORE + 7) / 8 * 8, entry = longer - (size_t)size;
	uint8_t *bytes = mem_alloc(longer);

	MUST(bytes);
	memcpy(bytes, old, (size_t)size);
	store_u16(bytes + size, 0x40);
	store_u16(bytes + size + 2, 0x101);
	store_u32(bytes + size + 4, 64);
	store_u64(bytes + size + 8, entry - 64);
	store_u64(bytes + 8, longer - CONTAINER_HEADER);
	*ret_size = longer;
	return bytes;
}

static inline void fuzz_move_rooms(struct grow *grow, struct baked_copy *copy,
								   struct fuzz_rooms *rooms)
{
	for (size_t i = 0; i < rooms->count; i++) {
		const struct container_room *room = &rooms->items[i];
		uint8_t *bytes;
		size_t size;

		if (room->size_bytes < CONTAINER_HEADER || room->size_bytes > FUZZ_MAX_CONTAINER ||
			load_u64(copy->from->data + room->offset) != CONTAINER_START)
			continue;
		bytes = fuzz_longer(copy->from->data + room->offset, room->size_bytes, &size);
		if (!grow_may_move(NULL, grow, room)) {
			MUST(!grow_move(NULL, grow, copy, room, bytes, size));
			rooms->moved++;
		}
		mem_free(bytes);
	}
	MUST(!grow_finish(NULL, grow, copy));
}

/* Returns how many containers moved. Files are made in `folder`. */
static inline size_t fuzz_grow(const char *folder, const uint8_t *data, size_t size)
{
	char *path = os_join(folder, "library"), *output = os_join(folder, "copy");
	struct fuzz_rooms rooms, again;
	struct grow *grow = NULL;
	struct baked_copy copy = {0};
	struct os_map map, after;

	MUST(!os_write_atomic(NULL, path, data, size));
	fuzz_read_rooms(path, &rooms);
	MUST(!os_map_open(NULL, path, &map));
	if (rooms.images == 1 && !rooms.troubles && !rooms.archive &&
		!grow_check(NULL, &map, rooms.items, rooms.count) &&
		!grow_open(NULL, &map, rooms.items, rooms.count, &grow)) {
		MUST(!baked_copy_begin(NULL, path, &map, output, NULL, &copy));
		fuzz_move_rooms(grow, &copy, &rooms);
		MUST(!os_map_open(NULL, copy.part, &after));
		MUST(after.size == copy.size_bytes && after.size >= map.size);
		os_map_close(&after);
		fuzz_read_rooms(copy.part, &again);
		MUST(!again.troubles && again.images == 1 && again.format == rooms.format);
		/* A container that was cut by the file's end looks whole in a longer file. */
		MUST(again.count == rooms.count ||
			 (rooms.damaged && again.count - rooms.count <= rooms.damaged));
		baked_copy_drop(&copy);
		grow_free(grow);
	}
	os_map_close(&map);
	mem_free(path);
	mem_free(output);
	return rooms.moved;
}
