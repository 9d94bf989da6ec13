#include "bake/bake_place.h"

#include "bake/link_place.h"
#include "base/cursor.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "gpu/branch.h"
#include "gpu/code_range.h"
#include "gpu/rules.h"
#include "plan/verdict.h"

/* ---- what goes into it */

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

/* The new form of the container at hand, in its place. */
static int make_container(struct jw_error *err, struct baking *baking,
						  const struct bake_place *place)
{
	const struct bake_file_job *job = baking->job;

	baking->edit = (struct container_edit){
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
	container_form_free(&baking->form);
	return container_edit(err, &baking->edit, &baking->form);
}

int bake_place_make(struct jw_error *err, struct baking *baking, const struct bake_place *place)
{
	const size_t targets = baking->job->target_count;
	struct jw_bake_file *file = baking->file;
	bool is_there;
	size_t entry = SIZE_MAX;

	baking->write_count = 0;
	if (place->linked)
		return 0;
	if (place->text) {
		file->texts++;
		return 0;
	}
	if (baking_open(err, baking, place, &is_there))
		return -1;
	if (!is_there)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	for (size_t t = 0; t < targets; t++) {
		if (baking->job->output ? add_cubin(err, baking, place, t)
								: baking_find_ptx(err, baking, place, t, &entry))
			return -1;
		if (!baking->job->output)
			file->modules += entry != SIZE_MAX;
	}
	return baking->write_count ? make_container(err, baking, place) : 0;
}

/* ---- into the copy */

/* The drivers that load what was written into the container at hand. */
static void note_drivers(const struct baking *baking, bool zstd, struct jw_bake_file *file)
{
	struct gpu_code_range range = {file->from, file->to};

	for (size_t i = 0; i < baking->write_count; i++) {
		const struct write_cubin *write = &baking->writes[i];
		const uint32_t linked = baking->job->linker ? baking->job->linker->used : 0,
					   made = baking->job->code_cuda > linked ? baking->job->code_cuda : linked;
		uint32_t cuda = cubin_cuda(write->cubin.data, write->cubin.size, 0, write->target.sm);
		struct gpu_code_range other;

		/* Whether drivers of CUDA 12 load what compilers of CUDA 13 make for sm_100 is not known.
		 */
		if (write->target.sm >= 100 && made >= 13000)
			cuda = 13000;
		other = gpu_code_range(cuda, write->target, zstd);

		range = range.from.cuda ? gpu_code_range_both(range, other) : other;
	}
	file->from = range.from;
	file->to = range.to;
}

/* Whether parts of it are packed in zstd. */
static bool has_zstd(const struct container_form *form)
{
	for (size_t i = 0; i < form->count; i++)
		if (load_u64(form->parts[i].bytes + 40) & CONTAINER_ZSTD)
			return true;
	return false;
}

static bool has_ptx(const struct devcode_container *container)
{
	for (size_t i = 0; i < container->entry_count; i++)
		if (devcode_kind_is_ptx(container->entries[i].kind))
			return true;
	return false;
}

int bake_place_put(struct jw_error *err, struct baking *baking, struct baking *hand,
				   const struct bake_place *place)
{
	struct jw_bake_file *file = baking->file;
	const struct container_form *form = &hand->form;
	struct baked_put put = {0};

	if (!hand->write_count)
		return 0;
	if (baked_output_put(err, &baking->output, &hand->edit, place->may_move, &hand->form, &put))
		return -1;
	if (form->room == CONTAINER_EDIT_NO_ROOM) {
		file->no_room += hand->write_count;
		if (!file->no_room_why.code)
			file->no_room_why = put.why;
		return 0;
	}
	note_drivers(hand, has_zstd(form), file);
	file->baked += hand->write_count;
	file->moved += put.moved;
	file->dropped += form->dropped;
	file->without_ptx += form->room == CONTAINER_EDIT_WITHOUT_PTX;
	file->kept_ptx += form->room != CONTAINER_EDIT_WITHOUT_PTX && has_ptx(&hand->container);
	container_form_free(&hand->form);
	/* Some containers are far larger than most: what they took is not kept in each hand. */
	buf_free(&hand->scratch);
	for (size_t t = 0; t < hand->job->target_count; t++)
		buf_free(&hand->cubins[t]);
	return 0;
}

int bake_place_link(struct jw_error *err, struct baking *baking, const struct bake_place *place,
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
	if (baking_open(err, baking, place, &is_there) || make_container(err, baking, place) ||
		bake_place_put(err, baking, baking, place))
		return -1;
	file->linked += file->baked - before;
	return 0;
}
