#include "bake/baking.h"

#include <string.h>

#include <jitwarm/system.h>

#include "bake/link_place.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "code/container.h"
#include "code/cubin.h"
#include "code/devcode.h"
#include "code/release.h"
#include "code/rules.h"
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
	for (size_t t = 0; t < ANALYSE_MAX_TARGETS; t++)
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
												   .entries = baking->entries,
												   .entry_count = walk.entries};
	return true;
}

size_t baking_find_ptx(struct baking *baking, const struct bake_place *place, size_t target)
{
	const struct bake_file_job *job = baking->job;
	const bool relocatable = place->role == DEVCODE_RELOCATABLE;
	struct plan_judgement judged = {.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};

	for (int pass = 0; pass < 2; pass++) {
		judged = plan_judge(&baking->container, baking->texts, relocatable, job->targets[target],
							&job->profile->driver);
		if (judged.verdict != VERDICT_JIT && judged.verdict != VERDICT_LINK)
			return SIZE_MAX;
		for (size_t i = 0; !pass && i < baking->container.entry_count; i++)
			plan_read_text(&baking->container, &baking->entries[i], &baking->texts[i]);
	}
	/* A library itself links other relocatable code, and needs its PTX. */
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
	path = cache_entry_path(job->cache_dir, cache_key_hash(job->profile, &input, NULL));
	buf_free(bytes);
	result = os_read_file(err, path, CACHE_MAX_ENTRY, bytes);
	mem_free(path);
	if (result)
		return -1;
	if (cache_entry_parse(bytes->data, bytes->size, &found) != CACHE_SOUND ||
		!cache_key_is(job->profile, &input, found.key, found.key_bytes) ||
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

/* Into the copy */

int baking_output_open(struct jw_error *err, struct baking *baking)
{
	const struct bake_places *places = &baking->places;

	baking->rooms = mem_array(places->count, sizeof *baking->rooms);
	for (size_t i = 0; i < places->count; i++)
		baking->rooms[i] =
			(struct container_room){places->items[i].offset, places->items[i].size_bytes};
	return grow_check(err, &baking->map, baking->rooms, places->count);
}

struct baked_put {
	bool written, moved;
	struct jw_error why; /* it was not written */
};

static int begin_copy(struct jw_error *err, struct baking *baking)
{
	if (baking->copy.file)
		return 0;
	return baked_copy_begin(err, baking->file->path, &baking->map, baking->job->output,
							&baking->copy);
}

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

/* Writes the new form of the container at hand into its room; else, if `may_move` (it is a
 * registered one), into another place. The first container begins the copy. */
static int baking_output_put(struct jw_error *err, struct baking *baking,
							 const struct container_form *form, bool may_move,
							 struct baked_put *put)
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

/* Adds the machine code of one container for one GPU, or records why there is none. */
static void add_cubin(struct baking *baking, const struct bake_place *place, size_t target)
{
	struct jw_bake_file *file = baking->file;
	const struct jw_target device = baking->job->targets[target];
	const size_t index = baking_find_ptx(baking, place, target);
	struct devcode_view cubin;

	if (index == SIZE_MAX)
		return;
	file->modules++;
	if (!baking->job->output)
		return;
	if (baking_find_cubin(NULL, baking, target, index, place->role == DEVCODE_RELOCATABLE, &cubin))
		file->uncompiled++;
	else if (!baking_is_written(baking, cubin, device))
		file->unknown++;
	else
		baking->writes[baking->write_count++] =
			(struct write_cubin){.cubin = cubin,
								 .target = baking_entry_target(device, baking->texts[index].suffix),
								 .flags = baking->entries[index].flags};
}

/* The drivers that load what was written into the container at hand, for each GPU. */
static void note_drivers(const struct baking *baking, struct jw_bake_file *file)
{
	for (size_t i = 0; i < baking->write_count; i++) {
		const struct write_cubin *write = &baking->writes[i];
		const uint32_t linked = baking->job->linker ? baking->job->linker->used : 0,
					   made = baking->job->code_cuda > linked ? baking->job->code_cuda : linked;
		uint32_t cuda = cubin_cuda(write->cubin.data, write->cubin.size, 0, write->target.sm);
		struct gpu_code_range range;
		size_t at = 0;

		/* Whether drivers of CUDA 12 load what compilers of CUDA 13 make for sm_100 is not known */
		if (write->target.sm >= 100 && made >= 13000)
			cuda = 13000;
		range = gpu_code_range(cuda, write->target);
		while (at < file->driver_count && file->drivers[at].target.sm != write->target.sm)
			at++;
		if (at < file->driver_count)
			range = gpu_code_range_both(
				range, (struct gpu_code_range){file->drivers[at].from, file->drivers[at].to});
		else if (at < JW_BAKE_MAX_GPUS)
			file->driver_count++;
		else
			continue;
		file->drivers[at] =
			(struct jw_bake_drivers){{.sm = write->target.sm}, range.from, range.to};
	}
}

/* Writes the container at hand, with what is added, into the copy. */
static int put_container(struct jw_error *err, struct baking *baking,
						 const struct bake_place *place)
{
	struct jw_bake_file *file = baking->file;
	struct container_form form;
	struct baked_put put;
	int result;

	if (container_edit(err, &baking->container, baking->writes, baking->write_count, &form))
		return -1;
	result = baking_output_put(err, baking, &form, place->may_move, &put);
	if (!result && !put.written) {
		file->no_room += baking->write_count;
		if (!file->no_room_why.code)
			file->no_room_why = put.why;
	} else if (!result) {
		note_drivers(baking, file);
		file->baked += baking->write_count;
		file->moved += put.moved;
		file->linked += place->linked ? baking->write_count : 0;
	}
	container_form_free(&form);
	return result;
}

int bake_place(struct jw_error *err, struct baking *baking, const struct bake_place *place,
			   size_t linked)
{
	baking->write_count = 0;
	if (place->text) {
		baking->file->texts++;
		return 0;
	}
	if (!place->linked && !baking_open(baking, place))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 place->size_bytes == baking->map.size
							 ? "a loose module, without a fat binary for machine code"
							 : "the file is packed: unpack it first");
	for (size_t t = 0; t < baking->job->target_count; t++) {
		if (!place->linked)
			add_cubin(baking, place, t);
		else if (link_place_add(err, baking, place, linked, t))
			return -1;
	}
	if (!baking->write_count)
		return 0;
	/* The containers of its objects were at hand meanwhile. */
	if (place->linked)
		(void)baking_open(baking, place);
	return put_container(err, baking, place);
}
