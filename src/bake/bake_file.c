#include "bake/bake_file.h"

#include <string.h>

#include "bake/baking.h"
#include "bake/link_place.h"
#include "base/cancel.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "gpu/branch.h"
#include "gpu/code_range.h"
#include "gpu/rules.h"
#include "os/file.h"
#include "plan/analyse.h"
#include "plan/verdict.h"

enum { MOST_CONTAINERS = 1 << 24 };

/* ---- which containers there are */

static int note_image(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct bake_places *places = context;

	places->archive = places->archive || image->member;
	places->ids_offset = image->module_ids_offset;
	places->ids_bytes = image->module_ids_bytes;
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		if (VEC_ROOM(err, places->items, places->capacity, places->count, MOST_CONTAINERS))
			return -1;
		places->items[places->count++] = (struct bake_place){
			.offset = container->offset,
			.size_bytes = container->size_bytes,
			.role = container->section < image->section_count
						? image->sections[container->section].role
						: DEVCODE_LOOSE,
			.linked = container->linked,
			.text = container->text,
			.may_move = container->section >= image->section_count ||
						image->sections[container->section].role == DEVCODE_REGISTERED,
		};
	}
	return 0;
}

static void note_bake_failure(void *context, const char *path, const char *member,
							  const struct jw_error *why)
{
	struct jw_bake_file *file = ((struct baking *)context)->file;

	(void)path;
	(void)member;
	if (!file->failed.code)
		file->failed = *why;
}

static int note_image_of(struct jw_error *err, void *context, const struct devcode_image *image)
{
	return note_image(err, &((struct baking *)context)->places, image);
}

/* ---- one container */

/* Adds the machine code of one container for one GPU, or records why there is none. */
static int add_cubin(struct jw_error *err, struct baking *baking, const struct bake_place *place,
					 size_t target)
{
	struct jw_bake_file *file = baking->file;
	const struct jw_target device = baking->job->targets[target];
	struct jw_error why = {0};
	struct devcode_view cubin;
	size_t index;

	if (baking_find_ptx(err, baking, place, target, &index))
		return -1;
	if (index == SIZE_MAX)
		return 0;
	file->modules++;
	if (baking_find_cubin(&why, baking, target, index, place->role == DEVCODE_RELOCATABLE,
						  &cubin)) {
		file->uncompiled++;
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	}
	if (!baking_is_written(baking, cubin, device)) {
		file->unknown++;
		return 0;
	}
	baking->writes[baking->write_count++] =
		(struct write_cubin){.cubin = cubin,
							 .target = baking_entry_target(device, baking->texts[index].suffix),
							 .flags = baking->entries[index].flags};
	return 0;
}

/* The drivers that load what was written into the container at hand. */
static void note_drivers(struct baking *baking, bool zstd)
{
	struct jw_bake_file *file = baking->file;
	struct gpu_code_range range = {file->from, file->to};

	for (size_t i = 0; i < baking->write_count; i++) {
		const struct write_cubin *write = &baking->writes[i];
		const uint32_t driver = baking->job->profile->driver.cuda;
		uint32_t cuda = cubin_cuda(write->cubin.data, write->cubin.size, 0, write->target.sm);
		struct gpu_code_range other;

		/* Whether drivers of CUDA 12 load what compilers of CUDA 13 make for sm_100 is not known.
		 */
		if (write->target.sm >= 100 && driver >= 13000)
			cuda = 13000;
		other = gpu_code_range(cuda, write->target, zstd);

		range = range.from.cuda ? gpu_code_range_both(range, other) : other;
	}
	file->from = range.from;
	file->to = range.to;
}

/* Whether the container at hand has parts packed in zstd now. */
static bool has_zstd(const struct baking *baking)
{
	const uint8_t *bytes = baking->output.bytes.data;
	struct container_walk walk = {.at = CONTAINER_HEADER,
								  .size_bytes = CONTAINER_HEADER + load_u64(bytes + 8)};

	while (range_fits(walk.at, CONTAINER_ENTRY, walk.size_bytes)) {
		const uint8_t *entry = bytes + walk.at;
		uint32_t header;

		if (load_u64(entry + 40) & CONTAINER_ZSTD)
			return true;
		if (!container_step(&walk, entry, &header))
			return false;
	}
	return false;
}

static bool has_ptx(const struct devcode_container *container)
{
	for (size_t i = 0; i < container->entry_count; i++)
		if (devcode_kind_is_ptx(container->entries[i].kind))
			return true;
	return false;
}

/* Whether the container at hand, with what is added, has machine code for each of the GPUs. */
static bool has_code_for_all(const struct baking *baking)
{
	const struct bake_file_job *job = baking->job;

	for (size_t t = 0; t < job->target_count; t++) {
		const struct jw_target gpu = job->targets[t];
		bool runs =
			plan_judge(&baking->container, NULL, false, gpu, &job->profile->driver).verdict <=
			VERDICT_COMPATIBLE;

		for (size_t i = 0; i < baking->write_count; i++)
			runs = runs || gpu_sass_fit(baking->writes[i].target, gpu) != GPU_FIT_NONE;
		if (!runs)
			return false;
	}
	return true;
}

/* Writes the container into the copy. */
static int put_container(struct jw_error *err, struct baking *baking,
						 const struct bake_place *place)
{
	const struct bake_file_job *job = baking->job;
	const struct container_edit edit = {
		.container = &baking->container,
		.cubins = baking->writes,
		.cubin_count = baking->write_count,
		.gpus = job->targets,
		.gpu_count = job->target_count,
		.kept = job->kept,
		.kept_count = job->kept_count,
		.drop_ptx = job->drop_ptx && has_code_for_all(baking),
		.zstd = gpu_branch_of(&job->profile->driver)->zstd,
		.must_fit = !place->may_move,
	};
	struct jw_bake_file *file = baking->file;
	struct baked_put put;

	if (baked_output_put(err, &baking->output, &edit, place->may_move, &put))
		return -1;
	if (put.room == CONTAINER_EDIT_NO_ROOM) {
		file->no_room += baking->write_count;
		if (!file->no_room_why.code)
			file->no_room_why = put.why;
		return 0;
	}
	note_drivers(baking, has_zstd(baking));
	file->baked += baking->write_count;
	file->moved += put.moved;
	file->dropped += put.dropped;
	file->without_ptx += put.room == CONTAINER_EDIT_WITHOUT_PTX;
	file->kept_ptx += put.room != CONTAINER_EDIT_WITHOUT_PTX && has_ptx(&baking->container);
	return 0;
}

/* ---- one place */

static int bake_linked(struct jw_error *err, struct baking *baking, const struct bake_place *place,
					   size_t linked)
{
	struct jw_bake_file *file = baking->file;
	const size_t before = file->baked;
	bool is_there;

	baking->write_count = 0;
	for (size_t t = 0; t < baking->job->target_count; t++)
		if (link_place_add(err, baking, place, linked, t))
			return -1;
	if (!baking->write_count)
		return 0;
	if (baking_open(err, baking, place, &is_there) || put_container(err, baking, place))
		return -1;
	file->linked += file->baked - before;
	return 0;
}

static int bake_place(struct jw_error *err, struct baking *baking, const struct bake_place *place)
{
	const size_t targets = baking->job->target_count;
	struct jw_bake_file *file = baking->file;
	bool is_there;
	size_t entry = SIZE_MAX;

	if (place->text) {
		file->texts++;
		return 0;
	}
	if (baking_open(err, baking, place, &is_there))
		return -1;
	if (!is_there)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	baking->write_count = 0;
	for (size_t t = 0; t < targets; t++) {
		if (baking->job->output ? add_cubin(err, baking, place, t)
								: baking_find_ptx(err, baking, place, t, &entry))
			return -1;
		if (!baking->job->output)
			file->modules += entry != SIZE_MAX;
	}
	return baking->write_count ? put_container(err, baking, place) : 0;
}

/* ---- one library */

/* Whether the runtime links for a GPU. */
static int judge_linked(struct jw_error *err, struct baking *baking)
{
	for (size_t i = 0; i < baking->places.count; i++) {
		const struct bake_place *place = &baking->places.items[i];
		bool is_there = false;

		if (place->linked && baking_open(err, baking, place, &is_there))
			return -1;
		for (size_t t = 0; is_there && t < baking->job->target_count; t++)
			baking->link[t] = baking->link[t] || link_place_is_unlinked(baking, t);
	}
	return 0;
}

static int bake_places(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;
	size_t linked = 0;

	if (judge_linked(err, baking) || link_place_read(err, baking))
		return -1;
	for (size_t i = 0; i < baking->places.count; i++) {
		const struct bake_place *place = &baking->places.items[i];

		if (cancel_asked(&baking->job->cancel))
			return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
		if (place->linked ? bake_linked(err, baking, place, linked++)
						  : bake_place(err, baking, place))
			return -1;
		if (baked_output_settle(err, &baking->output, place->offset + place->size_bytes))
			return -1;
		os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	}
	file->size_after_bytes = file->size_before_bytes;
	if (!baking->output.copy.file)
		return 0;
	if (baking->job->in_place && file->from.cuda)
		file->from = in_place_first_driver(baking->job->in_place, file->from);
	baking->output.copy.loads_from = file->from;
	if (baked_output_finish(err, &baking->output, &file->size_after_bytes))
		return -1;
	file->output = mem_string(err, baking->job->output);
	return file->output ? 0 : -1;
}

static int open_baked_output(struct jw_error *err, struct baking *baking)
{
	const struct bake_places *places = &baking->places;
	struct container_room *rooms = mem_array(err, places->count, sizeof *rooms);

	if (!rooms)
		return -1;
	for (size_t i = 0; i < places->count; i++)
		rooms[i] = (struct container_room){places->items[i].offset, places->items[i].size_bytes};
	return baked_output_open(err, baking->file->path, &baking->map, baking->job->output,
							 baking->job->in_place, rooms, places->count, &baking->output);
}

static int read_and_bake(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;
	const struct devcode_sink sink = {.context = baking,
									  .image = note_image_of,
									  .trouble = note_bake_failure,
									  .cancel = baking->job->cancel};

	if (devcode_read(err, file->path, &sink))
		return -1;
	if (file->failed.code || !baking->places.count)
		return 0;
	if (baking->places.archive)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "an archive: unpack it, and bake the libraries in it");
	if (os_map_open(err, file->path, &baking->map))
		return -1;
	file->size_before_bytes = baking->map.size;
	return open_baked_output(err, baking) || bake_places(err, baking) ? -1 : 0;
}

int bake_file(struct jw_error *err, const struct bake_file_job *job, struct jw_bake_file *file)
{
	struct baking *baking = mem_alloc(err, sizeof *baking);
	struct jw_error why = {0};

	if (!baking)
		return -1;
	baking->job = job;
	baking->file = file;
	baking->scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD + 1);
	if (read_and_bake(&why, baking)) {
		file->failed = why;
		file->baked = 0;
	}
	baked_output_drop(&baking->output);
	os_map_close(&baking->map);
	for (size_t t = 0; t < ANALYSE_MOST_TARGETS; t++)
		buf_free(&baking->cubins[t]);
	buf_free(&baking->scratch);
	mem_free(baking->entries);
	mem_free(baking->texts);
	mem_free(baking->places.items);
	mem_free(baking->objects);
	mem_free(baking->links);
	mem_free(baking);
	return why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}
