#include "bake/baking.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/container.h"
#include "code/cubin.h"
#include "code/devcode.h"
#include "os/file.h"
#include "plan/picks.h"
#include "plan/verdict.h"

enum { FIRST_COMPAT_SM = 100 };

void baking_free(struct baking *baking)
{
	if (!baking)
		return;
	baked_copy_drop(&baking->copy);
	grow_free(baking->grow);
	mem_free(baking->rooms);
	os_map_close(&baking->map);
	for (size_t t = 0; t < PLAN_MAX_TARGETS; t++)
		buf_free(&baking->cubins[t]);
	buf_free(&baking->scratch);
	mem_free(baking->entries);
	mem_free(baking->texts);
	mem_free(baking->places.items);
	mem_free(baking->objects);
	mem_free(baking->links);
	mem_free(baking);
}

bool baking_open(struct baking *baking, const struct bake_place *place)
{
	const uint8_t *bytes = baking->map.data + place->offset;
	struct container_walk walk = {0};

	if (!range_fits(place->offset, place->size_bytes, baking->map.size) ||
		place->size_bytes < CONTAINER_HEADER ||
		container_check(&walk, bytes, place->size_bytes, place->size_bytes) != CONTAINER_SOUND ||
		walk.size_bytes != place->size_bytes)
		return false;
	if (walk.entries > baking->entry_room) {
		mem_free(baking->entries);
		mem_free(baking->texts);
		baking->entries = mem_array(walk.entries, sizeof *baking->entries);
		baking->texts = mem_array(walk.entries, sizeof *baking->texts);
		baking->entry_room = walk.entries;
	}
	if (walk.entries)
		memset(baking->texts, 0, walk.entries * sizeof *baking->texts);
	container_entries(bytes, place->size_bytes, place->offset, baking->entries, walk.entries);
	baking->container = (struct devcode_container){.offset = place->offset,
												   .size_bytes = place->size_bytes,
												   .bytes = bytes,
												   .mapped = true,
												   .entries = baking->entries,
												   .entry_count = walk.entries};
	return true;
}

/* Judges the current container by the facts that are known about its texts. */
static struct plan_judgement judge(const struct baking *baking, bool relocatable, size_t target)
{
	return plan_judge(&baking->container, baking->texts, relocatable, baking->job->targets[target],
					  &baking->job->profile->driver);
}

size_t baking_find_ptx(struct baking *baking, const struct bake_place *place, size_t target)
{
	const bool relocatable = place->role == DEVCODE_RELOCATABLE;
	struct plan_judgement judged = judge(baking, relocatable, target);

	/* The texts are read only if no cubin runs. */
	if (judged.verdict == VERDICT_JIT || judged.verdict == VERDICT_LINK) {
		for (size_t i = 0; i < baking->container.entry_count; i++)
			plan_read_text(&baking->container, &baking->entries[i], &baking->texts[i]);
		judged = judge(baking, relocatable, target);
	}
	if (judged.verdict != VERDICT_JIT && judged.verdict != VERDICT_LINK)
		return SIZE_MAX;
	/* Other relocatable code is linked by the library itself, which needs its PTX. */
	return judged.verdict == VERDICT_JIT || (relocatable && baking->link[target]) ? judged.entry
																				  : SIZE_MAX;
}

int baking_find_cubin(struct jw_error *err, struct baking *baking, size_t target, size_t index,
					  bool relocatable, struct devcode_view *ret_cubin)
{
	const struct bake_file_job *job = baking->job;
	const struct devcode_entry *entry = &baking->container.entries[index];
	struct buf *bytes = &baking->cubins[target];
	struct cache_key_input input;
	struct devcode_view payload;
	struct cache_entry found;
	char *path;
	int result;

	if (devcode_payload(err, &baking->container, entry, &baking->scratch, &payload))
		return -1;
	input = picks_key_input(&baking->container, entry, payload, job->targets[target].sm,
							relocatable ? CACHE_KEY_LINK : CACHE_KEY_LOAD);
	path = cache_entry_path(job->cache_dir, cache_key_hash(job->profile->stamp, &input, NULL));
	buf_free(bytes);
	result = os_read_file(err, path, CACHE_MAX_ENTRY, bytes);
	mem_free(path);
	if (result)
		return -1;
	if (cache_entry_parse(bytes->data, bytes->size, &found) != CACHE_SOUND ||
		!cache_key_is(job->profile->stamp, &input, found.key, found.key_bytes) ||
		fnv_update(FNV_START, found.value, (size_t)found.value_bytes) != found.checksum)
		return error_set(err, JW_ERR_NOT_FOUND, "its entry is damaged");
	*ret_cubin = (struct devcode_view){found.value, (size_t)found.value_bytes};
	return 0;
}

struct jw_target baking_entry_target(struct jw_target gpu, char text_suffix)
{
	if (gpu.sm < FIRST_COMPAT_SM)
		gpu.suffix = text_suffix;
	else
		gpu.suffix = 'a';
	return gpu;
}

bool baking_is_written(const struct baking *baking, struct devcode_view cubin,
					   struct jw_target device)
{
	const uint32_t driver = baking->job->profile->driver.cuda;
	struct cubin_header header;

	if (cubin_read(NULL, cubin.data, cubin.size, &header) || header.sm != device.sm ||
		(driver && cubin_cuda(cubin.data, cubin.size, 0, device.sm) > driver))
		return false;
	return device.sm < FIRST_COMPAT_SM ||
		   (header.abi == CUBIN_ABI_8 && cubin_compat(cubin).size > 0);
}

/* ---- writing into the copy */

int baking_output_open(struct jw_error *err, struct baking *baking)
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
	if (baking->copy.file)
		return 0;
	return baked_copy_begin(err, baking->file->path, &baking->map, baking->job->output,
							&baking->job->cancel, &baking->copy);
}

/* Gives a container that does not fit another place in a longer copy; if that is impossible,
 * put->why says why. */
static int move_container(struct jw_error *err, struct baking *baking,
						  const struct container_room *room, const struct container_form *form,
						  struct baked_put *put)
{
	struct buf bytes = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	int result;

	/* Tries once whether the file can become longer. */
	if (!baking->grow && !baking->no_grow.code)
		(void)grow_open(&baking->no_grow, &baking->map, baking->rooms, baking->places.count,
						&baking->grow);
	if (!baking->grow) {
		put->why = baking->no_grow;
		return 0;
	}
	if (grow_may_move(&put->why, baking->grow, room))
		return 0;
	result = begin_copy(err, baking);
	if (!result)
		result = container_form_join(err, form, &bytes);
	if (!result)
		result = grow_move(err, baking->grow, &baking->copy, room, bytes.data, bytes.size);
	buf_free(&bytes);
	put->written = put->moved = !result;
	return result;
}

/* Writes a shortened container into its room; only zeros follow it, as between any two. */
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

int baking_output_put(struct jw_error *err, struct baking *baking,
					  const struct container_form *form, bool may_move, struct baked_put *put)
{
	const struct container_room room = {baking->container.offset, baking->container.size_bytes};

	*put = (struct baked_put){.written = form->size_bytes <= room.size_bytes};
	if (put->written)
		return write_in_room(err, baking, &room, form);
	error_fill(&put->why, JW_ERR_UNSUPPORTED, "it has no wrapper");
	return may_move ? move_container(err, baking, &room, form, put) : 0;
}

int baking_output_finish(struct jw_error *err, struct baking *baking, uint64_t *ret_size_bytes)
{
	if (baking->grow && grow_finish(err, baking->grow, &baking->copy))
		return -1;
	*ret_size_bytes = baking->copy.size_bytes;
	return baked_copy_finish(err, &baking->copy, baking->map.stat.mode);
}
