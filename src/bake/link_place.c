#include "bake/link_place.h"

#include "bake/linked.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "devcode/container.h"
#include "devcode/module_ids.h"
#include "os/file.h"
#include "plan/verdict.h"

bool link_place_is_unlinked(const struct baking *baking, size_t target)
{
	const struct bake_file_job *job = baking->job;

	return plan_judge(&baking->container, NULL, false, job->targets[target], &job->profile->driver)
			   .verdict > VERDICT_COMPATIBLE;
}

/* The objects of one linked container, for one GPU. */
struct linking {
	struct baking *baking;
	size_t target;
	size_t *places;
	size_t count;
};

int link_place_read(struct jw_error *err, struct baking *baking)
{
	const struct bake_places *places = &baking->places;
	size_t linked = 0;
	bool known = false;

	baking->objects = mem_array(err, places->count, sizeof *baking->objects);
	baking->links = mem_array(err, places->count, sizeof *baking->links);
	if (!baking->objects || !baking->links)
		return -1;
	for (size_t i = 0; i < places->count; i++) {
		linked += places->items[i].linked;
		if (places->items[i].role == DEVCODE_RELOCATABLE)
			baking->objects[baking->object_count++] = i;
	}
	if (range_fits(places->ids_offset, places->ids_bytes, baking->map.size) &&
		module_ids_read(err, baking->map.data + places->ids_offset, (size_t)places->ids_bytes,
						baking->object_count, linked, baking->links, &known))
		return -1;
	for (size_t i = 0; !known && linked == 1 && i < baking->object_count; i++)
		baking->links[i] = 0;
	if (!known && linked != 1) {
		mem_free(baking->links);
		baking->links = NULL;
	}
	return 0;
}

/* A container of the object's machine code alone. */
static int pack_object(struct jw_error *err, struct jw_target device, struct devcode_view cubin,
					   uint64_t flags, struct buf *out)
{
	const struct write_cubin write = {
		.cubin = cubin, .target = device, .flags = flags, .compression = DEVCODE_RAW};
	const size_t before = out->size;
	static const uint8_t header[CONTAINER_HEADER];

	if (buf_append(err, out, header, sizeof header) || write_cubin_entry(err, &write, out))
		return -1;
	/* Not before: a compiler may lay the header with a size of 0, an empty container, into this
	 * program's data. */
	store_u64(out->data + before, CONTAINER_START);
	store_u64(out->data + before + 8, out->size - before - CONTAINER_HEADER);
	return 0;
}

/* What the driver gets at a start: the object's container as it is where its code runs, else what
 * the cache holds for it. */
static int add_object(struct jw_error *err, const struct linking *linking,
					  const struct bake_place *place, struct buf *out)
{
	struct baking *baking = linking->baking;
	const struct jw_target device = baking->job->targets[linking->target];
	struct devcode_view cubin;
	bool is_there;
	size_t entry;

	if (baking_open(err, baking, place, &is_there))
		return -1;
	if (!is_there)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	if (baking_find_ptx(err, baking, place, linking->target, &entry))
		return -1;
	if (entry == SIZE_MAX)
		return buf_append(err, out, baking->container.bytes, (size_t)baking->container.size_bytes);
	if (baking_find_cubin(err, baking, linking->target, entry, true, &cubin))
		return err->code == JW_ERR_NOT_FOUND
				   ? error_set(err, JW_ERR_NOT_FOUND, "an object of it was not compiled")
				   : -1;
	return pack_object(err, device, cubin, baking->entries[entry].flags, out);
}

static int give_object(struct jw_error *err, void *context, size_t index, struct buf *out)
{
	const struct linking *linking = context;
	struct baking *baking = linking->baking;
	const struct bake_place *place = &baking->places.items[linking->places[index]];
	int failed = add_object(err, linking, place, out);

	os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	return failed;
}

/* JW_ERR_NOT_FOUND is left for what nothing can link: a start may do what failed here. */
static int link_given(struct jw_error *err, const struct linked_job *job, struct buf *cubin)
{
	if (!linked_make(err, job, cubin))
		return 0;
	if (err->code == JW_ERR_NOT_FOUND)
		err->code = JW_ERR_UNSUPPORTED;
	return -1;
}

static int link_objects(struct jw_error *err, struct baking *baking, size_t target, size_t linked,
						bool empty, struct buf *cubin)
{
	struct linking linking = {.baking = baking, .target = target};
	struct linked_job job = {.system = baking->job->system,
							 .linker = baking->job->linker,
							 .device = baking->job->targets[target],
							 .object = empty ? linked_empty_object : give_object,
							 .context = &linking,
							 .cancel = baking->job->cancel};
	int failed;

	if (empty) {
		job.object_count = 1;
		return link_given(err, &job, cubin);
	}
	if (!baking->links)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "which of its objects belong together is not known");
	linking.places = mem_array(err, baking->object_count, sizeof *linking.places);
	if (!linking.places)
		return -1;
	for (size_t i = 0; i < baking->object_count; i++)
		if (baking->links[i] == linked)
			linking.places[job.object_count++] = baking->objects[i];
	failed = job.object_count
				 ? link_given(err, &job, cubin)
				 : error_set(err, JW_ERR_NOT_FOUND, "the library has none of its objects");
	mem_free(linking.places);
	return failed;
}

int link_place_add(struct jw_error *err, struct baking *baking, const struct bake_place *place,
				   size_t linked, size_t target)
{
	const struct jw_target device = baking->job->targets[target];
	struct jw_bake_file *file = baking->file;
	struct buf *cubin = &baking->cubins[target];
	struct jw_error why = {0};
	struct cubin_symbols model = {0};
	struct devcode_view view;
	bool is_there;

	if (baking_open(err, baking, place, &is_there))
		return -1;
	if (!is_there || !link_place_is_unlinked(baking, target))
		return 0;
	file->modules++;
	if (!baking->job->output)
		return 0;
	buf_free(cubin);
	if (linked_model(&why, &baking->container, &model))
		goto refused;
	/* It may be as large as all others together. */
	os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	if (link_objects(&why, baking, target, linked, !model.any, cubin) ||
		baking_open(&why, baking, place, &is_there))
		goto refused;
	view = (struct devcode_view){cubin->data, cubin->size};
	if (linked_check(&why, view, device, &model))
		goto refused;
	cubin_symbols_free(&model);
	if (!baking_is_written(baking, view, device)) {
		file->unknown++;
		return 0;
	}
	baking->writes[baking->write_count++] = (struct write_cubin){
		.cubin = view,
		.target = baking_entry_target(device, 0),
		.flags = baking->container.entry_count ? baking->entries[0].flags : 0x11};
	return 0;
refused:
	cubin_symbols_free(&model);
	if (why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	file->unlinked++;
	if (!file->unlinked_why.code)
		file->unlinked_why = why;
	return 0;
}
