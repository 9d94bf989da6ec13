#include "bake/bake_file.h"

#include <string.h>

#include "bake/baking.h"
#include "bake/link_place.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "code/cubin.h"
#include "code/rules.h"
#include "os/file.h"

enum { MAX_CONTAINERS = 1 << 24 };

/* Adds the places of an image's containers. */
static int list_places(struct jw_error *err, struct bake_places *places,
					   const struct devcode_image *image)
{
	places->archive = places->archive || image->member;
	places->ids_offset = image->module_ids_offset;
	places->ids_bytes = image->module_ids_bytes;
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		if (VEC_ROOM(err, places->items, places->capacity, places->count, MAX_CONTAINERS))
			return -1;
		places->items[places->count++] = (struct bake_place){
			.offset = container->offset,
			.size_bytes = container->size_bytes,
			.role = devcode_role_of(image, container),
			.linked = container->linked,
			.text = container->text,
			.may_move = container->section >= image->section_count ||
						image->sections[container->section].role == DEVCODE_REGISTERED,
		};
	}
	return 0;
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

/* Records which drivers load the code that was written into the current container, for each GPU. */
static void note_drivers(const struct baking *baking, struct jw_bake_file *file)
{
	for (size_t i = 0; i < baking->write_count; i++) {
		const struct write_cubin *write = &baking->writes[i];
		const uint32_t linked = baking->job->linker ? baking->job->linker->used : 0,
					   made = baking->job->code_cuda > linked ? baking->job->code_cuda : linked;
		uint32_t cuda = cubin_cuda(write->cubin.data, write->cubin.size, 0, write->target.sm);
		struct gpu_code_range range;
		size_t at = 0;

		/* It is unknown whether drivers of CUDA 12 load the code for sm_100 that compilers of CUDA
		 * 13 make. */
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

/* Writes the current container, with the added code, into the copy. */
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

/* Bakes the container at `place`, which becomes the current one. For a linked container, `linked`
 * is its number, and its objects are linked then. */
static int bake_place(struct jw_error *err, struct baking *baking, const struct bake_place *place,
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
							 ? "a loose module, without a fat binary for machine code: bake takes "
							   "libraries and wheels, and “jitwarm prime” compiles PTX"
							 : "the file is packed: unpack it first");
	for (size_t t = 0; t < baking->job->target_count; t++) {
		if (!place->linked)
			add_cubin(baking, place, t);
		else if (link_place_add(err, baking, place, linked, t))
			return -1;
	}
	if (!baking->write_count)
		return 0;
	/* The containers of its objects were the current ones meanwhile. */
	if (place->linked && !baking_open(baking, place))
		return error_set(err, JW_ERR_IO, "was changed while it was baked: try again");
	return put_container(err, baking, place);
}

/* Bakes the linked containers, or all others. */
static int bake_each(struct jw_error *err, struct baking *baking, bool linked)
{
	size_t number = 0;

	for (size_t i = 0; i < baking->places.count; i++) {
		const struct bake_place *place = &baking->places.items[i];

		if (place->linked != linked)
			continue;
		if (cancel_check(err, &baking->job->cancel) || bake_place(err, baking, place, number++))
			return -1;
		os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	}
	return 0;
}

static int bake_places(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;

	/* Finds the GPUs for which the runtime links. */
	for (size_t i = 0; i < baking->places.count; i++) {
		const struct bake_place *place = &baking->places.items[i];

		if (place->linked && baking_open(baking, place))
			for (size_t t = 0; t < baking->job->target_count; t++)
				baking->link[t] = baking->link[t] || link_place_is_unlinked(baking, t);
	}
	link_place_read(baking);
	if (bake_each(err, baking, /* linked= */ true))
		return -1;
	/* Objects need their own code only if a start links them. */
	if (!baking->job->output || file->baked == file->modules)
		memset(baking->link, 0, sizeof baking->link);
	if (bake_each(err, baking, /* linked= */ false))
		return -1;
	file->size_after_bytes = file->size_before_bytes;
	if (!baking->copy.file)
		return 0;
	if (baking_output_finish(err, baking, &file->size_after_bytes))
		return -1;
	file->output = baking->job->output;
	return 0;
}

static int read_and_bake(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;
	struct code_reader *reader;
	struct code_found found;
	int step;

	if (code_open(err, file->path, &baking->job->cancel, &reader))
		return -1;
	while ((step = code_next(err, reader, &found)) > CODE_END) {
		if (step == CODE_IMAGE && list_places(err, &baking->places, found.image)) {
			step = CODE_FAILED;
			break;
		}
		if (step == CODE_TROUBLE && !file->failed.code)
			file->failed = found.why;
	}
	code_close(reader);
	if (step)
		return -1;
	if (file->failed.code || !baking->places.count)
		return 0;
	if (baking->places.archive)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "an archive: unpack it, and bake the libraries in it");
	if (os_map_open(err, file->path, &baking->map))
		return -1;
	file->size_before_bytes = baking->map.size;
	if (baking_output_open(err, baking))
		return -1;
	return bake_places(err, baking);
}

int bake_file(struct jw_error *err, const struct bake_file_job *job, struct jw_bake_file *file)
{
	struct baking *baking = mem_alloc(sizeof *baking);
	struct jw_error why = {0};

	baking->job = job;
	baking->file = file;
	baking->scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD + 1);
	if (read_and_bake(&why, baking)) {
		file->failed = why;
		file->baked = 0;
	}
	baking_free(baking);
	return why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}
