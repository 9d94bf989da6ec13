#include "bake/bake_file.h"

#include <string.h>

#include "bake/baked_copy.h"
#include "bake/container_edit.h"
#include "bake/linked.h"
#include "base/cancel.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "devcode/module_ids.h"
#include "gpu/branch.h"
#include "os/file.h"
#include "plan/analyse.h"
#include "plan/verdict.h"

enum { MOST_CONTAINERS = 1 << 24, FIRST_UNKNOWN_SM = 100 };

/* Where a container is, and how it is used. */
struct place {
	uint64_t offset, size_bytes;
	enum devcode_role role;
	bool linked, text;
};

struct places {
	struct place *items;
	size_t count, capacity;
	bool archive;                   /* the file has members */
	uint64_t ids_offset, ids_bytes; /* the section of module ids */
};

struct baking {
	const struct bake_file_job *job;
	struct jw_bake_file *file;
	struct os_map map;
	struct places places;
	bool link[ANALYSE_MOST_TARGETS]; /* the runtime links the library's objects at start */
	/* The containers of objects, as indices of places, and for each the number of the linked
	 * container that it is part of. `links` NULL: unknown. */
	size_t *objects;
	uint32_t *links;
	size_t object_count;
	struct baked_copy copy;
	/* Of the container at hand */
	struct devcode_container container;
	struct devcode_entry *entries;
	struct jw_target *texts;
	size_t entry_room;
	struct buf scratch, room;
	struct buf cubins[ANALYSE_MOST_TARGETS]; /* entries' files */
	struct write_cubin writes[ANALYSE_MOST_TARGETS];
	size_t write_count;
};

/* ---- which containers there are */

static int note_image(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct places *places = context;

	places->archive = places->archive || image->member;
	places->ids_offset = image->module_ids_offset;
	places->ids_bytes = image->module_ids_bytes;
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];

		if (VEC_ROOM(err, places->items, places->capacity, places->count, MOST_CONTAINERS))
			return -1;
		places->items[places->count++] = (struct place){
			.offset = container->offset,
			.size_bytes = container->size_bytes,
			.role = container->section < image->section_count
						? image->sections[container->section].role
						: DEVCODE_LOOSE,
			.linked = container->linked,
			.text = container->text,
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

/* The container at `place`, with its entries: false if the file does not hold it there in this
 * form, for example since it was decompressed. */
static int open_container(struct jw_error *err, struct baking *baking, const struct place *place,
						  bool *ret_is_there)
{
	const uint8_t *bytes = baking->map.data + place->offset;
	struct container_walk walk = {0};

	*ret_is_there = false;
	if (!range_fits(place->offset, place->size_bytes, baking->map.size) ||
		place->size_bytes < CONTAINER_HEADER ||
		container_check(&walk, bytes, place->size_bytes, place->size_bytes) != CONTAINER_SOUND ||
		walk.size_bytes != place->size_bytes)
		return 0;
	if (walk.entries > baking->entry_room) {
		mem_free(baking->entries);
		mem_free(baking->texts);
		baking->entry_room = 0;
		baking->entries = mem_array(err, walk.entries, sizeof *baking->entries);
		baking->texts = mem_array(err, walk.entries, sizeof *baking->texts);
		if (!baking->entries || !baking->texts)
			return -1;
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
	*ret_is_there = true;
	return 0;
}

/* The PTX that the driver would compile for the GPU, SIZE_MAX if it would compile none. Reads the
 * texts only if no cubin runs. */
static int find_ptx_to_compile(struct jw_error *err, struct baking *baking,
							   const struct place *place, size_t target, size_t *ret_entry)
{
	const struct bake_file_job *job = baking->job;
	const bool relocatable = place->role == DEVCODE_RELOCATABLE;
	struct plan_judgement judged = {.verdict = VERDICT_NOTHING, .entry = SIZE_MAX};

	*ret_entry = SIZE_MAX;
	for (int pass = 0; pass < 2; pass++) {
		judged = plan_judge(&baking->container, baking->texts, relocatable, job->targets[target],
							&job->profile->driver);
		if (judged.verdict != VERDICT_JIT && judged.verdict != VERDICT_LINK)
			return 0;
		for (size_t i = 0; !pass && i < baking->container.entry_count; i++)
			if (plan_read_text(err, &baking->container, &baking->entries[i], &baking->texts[i]))
				return -1;
	}
	/* A library itself links other relocatable code, and needs its PTX. */
	if (judged.verdict == VERDICT_JIT || (relocatable && baking->link[target]))
		*ret_entry = judged.entry;
	return 0;
}

/* Reads the value of the entry that a start with this driver would look up into the target's
 * buffer. JW_ERR_NOT_FOUND: it is missing or damaged. */
static int find_cubin(struct jw_error *err, struct baking *baking, size_t target, size_t index,
					  bool relocatable, struct devcode_view *ret_cubin)
{
	const struct bake_file_job *job = baking->job;
	const struct devcode_entry *entry = &baking->container.entries[index];
	struct buf *bytes = &baking->cubins[target];
	struct devcode_view payload;
	struct cache_entry found;
	uint64_t key;
	char *path;
	int failed;

	if (devcode_payload(err, &baking->container, entry, &baking->scratch, &payload))
		return -1;
	key =
		cache_key_hash(job->profile,
					   &(struct cache_key_input){
						   .sm = job->targets[target].sm,
						   .form = relocatable ? CACHE_KEY_LINK : CACHE_KEY_LOAD,
						   .payload = payload.data,
						   .payload_size = payload.size,
						   .options = (const char *)baking->container.bytes + entry->options_offset,
						   .options_length = entry->options_length,
					   },
					   NULL);
	path = cache_entry_path(err, job->cache_dir, key);
	if (!path)
		return -1;
	buf_free(bytes);
	failed = os_read_file(err, path, CACHE_MOST_ENTRY, bytes);
	mem_free(path);
	if (failed)
		return -1;
	if (cache_entry_verify(bytes->data, bytes->size, key, &found) != CACHE_SOUND)
		return error_set(err, JW_ERR_NOT_FOUND, "its entry is damaged");
	*ret_cubin = (struct devcode_view){found.value, (size_t)found.value_bytes};
	return 0;
}

static bool is_written_form(struct devcode_view cubin, struct jw_target device)
{
	struct cubin_header header;

	return device.sm < FIRST_UNKNOWN_SM && !cubin_read(NULL, cubin.data, cubin.size, &header) &&
		   header.abi == CUBIN_ABI_7 && header.sm == device.sm;
}

/* Adds the machine code of one container for one GPU, or records why there is none. */
static int add_cubin(struct jw_error *err, struct baking *baking, const struct place *place,
					 size_t target)
{
	struct jw_bake_file *file = baking->file;
	struct jw_target device = baking->job->targets[target];
	struct jw_error why = {0};
	struct devcode_view cubin;
	size_t index;

	if (find_ptx_to_compile(err, baking, place, target, &index))
		return -1;
	if (index == SIZE_MAX)
		return 0;
	file->modules++;
	if (find_cubin(&why, baking, target, index, place->role == DEVCODE_RELOCATABLE, &cubin)) {
		file->uncompiled++;
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	}
	if (!is_written_form(cubin, device)) {
		file->unknown++;
		return 0;
	}
	device.suffix = baking->texts[index].suffix;
	baking->writes[baking->write_count++] = (struct write_cubin){
		.cubin = cubin, .target = device, .flags = baking->entries[index].flags};
	return 0;
}

static bool has_ptx(const struct devcode_container *container)
{
	for (size_t i = 0; i < container->entry_count; i++)
		if (devcode_kind_is_ptx(container->entries[i].kind))
			return true;
	return false;
}

/* Writes the container into the copy, which the first container begins. */
static int put_container(struct jw_error *err, struct baking *baking)
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
		.drop_ptx = job->drop_ptx && baking->write_count == job->target_count,
		.zstd = gpu_branch_of(&job->profile->driver)->zstd,
	};
	struct jw_bake_file *file = baking->file;
	enum container_edit_room room;
	size_t dropped;

	if (container_edit(err, &edit, &baking->room, &room, &dropped))
		return -1;
	if (room == CONTAINER_EDIT_NO_ROOM) {
		file->no_room += baking->write_count;
		return 0;
	}
	if ((!baking->copy.file &&
		 baked_copy_begin(err, file->path, &baking->map, job->output, &baking->copy)) ||
		baked_copy_write(err, &baking->copy, baking->container.offset, baking->room.data,
						 baking->room.size))
		return -1;
	file->baked += baking->write_count;
	file->dropped += dropped;
	file->without_ptx += room == CONTAINER_EDIT_WITHOUT_PTX;
	file->kept_ptx += room != CONTAINER_EDIT_WITHOUT_PTX && has_ptx(&baking->container);
	return 0;
}

/* ---- containers that the runtime links at start */

/* Whether the linked container at hand has no machine code that runs. */
static bool is_unlinked(const struct baking *baking, size_t target)
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

/* Finds out which object is part of which linked container. */
static int read_links(struct jw_error *err, struct baking *baking)
{
	const struct places *places = &baking->places;
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
	uint8_t header[CONTAINER_HEADER] = {0};

	store_u64(header, CONTAINER_START);
	if (buf_append(err, out, header, sizeof header) || write_cubin_entry(err, &write, out))
		return -1;
	store_u64(out->data + before + 8, out->size - before - CONTAINER_HEADER);
	return 0;
}

/* What the driver gets at a start: the object's container as it is where its code runs, else what
 * the cache holds for it. */
static int give_object(struct jw_error *err, void *context, size_t index, struct buf *out)
{
	const struct linking *linking = context;
	struct baking *baking = linking->baking;
	const struct jw_target device = baking->job->targets[linking->target];
	const struct place *place = &baking->places.items[linking->places[index]];
	struct devcode_view cubin;
	bool is_there;
	size_t entry;

	if (open_container(err, baking, place, &is_there))
		return -1;
	if (!is_there)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	if (find_ptx_to_compile(err, baking, place, linking->target, &entry))
		return -1;
	if (entry == SIZE_MAX)
		return buf_append(err, out, baking->container.bytes, (size_t)baking->container.size_bytes);
	if (find_cubin(err, baking, linking->target, entry, true, &cubin))
		return -1;
	return pack_object(err, device, cubin, baking->entries[entry].flags, out);
}

static int link_objects(struct jw_error *err, struct baking *baking, size_t target, size_t linked,
						bool empty, struct buf *cubin)
{
	struct linking linking = {.baking = baking, .target = target};
	struct linked_job job = {.system = baking->job->system,
							 .device = baking->job->targets[target],
							 .object = empty ? linked_empty_object : give_object,
							 .context = &linking,
							 .cancel = baking->job->cancel};
	int failed;

	if (empty) {
		job.object_count = 1;
		return linked_make(err, &job, cubin);
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
				 ? linked_make(err, &job, cubin)
				 : error_set(err, JW_ERR_UNSUPPORTED, "nothing is known of its objects");
	mem_free(linking.places);
	return failed;
}

/* Links for one GPU, unless the container has code that runs. What cannot be linked is counted. */
static int add_linked(struct jw_error *err, struct baking *baking, const struct place *place,
					  size_t linked, size_t target)
{
	const struct jw_target device = baking->job->targets[target];
	struct jw_bake_file *file = baking->file;
	struct buf *cubin = &baking->cubins[target];
	struct jw_error why = {0};
	struct devcode_view view;
	bool is_there, empty;

	if (open_container(err, baking, place, &is_there))
		return -1;
	if (!is_there || !is_unlinked(baking, target))
		return 0;
	file->modules++;
	if (!baking->job->output)
		return 0;
	buf_free(cubin);
	if (linked_is_empty(&why, &baking->container, &empty) ||
		link_objects(&why, baking, target, linked, empty, cubin) ||
		open_container(&why, baking, place, &is_there))
		goto refused;
	view = (struct devcode_view){cubin->data, cubin->size};
	if (linked_check(&why, view, device, &baking->container))
		goto refused;
	if (!is_written_form(view, device)) {
		file->unknown++;
		return 0;
	}
	baking->writes[baking->write_count++] = (struct write_cubin){
		.cubin = view,
		.target = device,
		.flags = baking->container.entry_count ? baking->entries[0].flags : 0x11};
	return 0;
refused:
	if (why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	file->unlinked++;
	if (!file->unlinked_why.code)
		file->unlinked_why = why;
	return 0;
}

/* ---- one place */

static int bake_linked(struct jw_error *err, struct baking *baking, const struct place *place,
					   size_t linked)
{
	struct jw_bake_file *file = baking->file;
	const size_t before = file->baked;
	bool is_there;

	baking->write_count = 0;
	for (size_t t = 0; t < baking->job->target_count; t++)
		if (add_linked(err, baking, place, linked, t))
			return -1;
	if (!baking->write_count)
		return 0;
	if (open_container(err, baking, place, &is_there) || put_container(err, baking))
		return -1;
	file->linked += file->baked - before;
	return 0;
}

static int bake_place(struct jw_error *err, struct baking *baking, const struct place *place)
{
	const size_t targets = baking->job->target_count;
	struct jw_bake_file *file = baking->file;
	bool is_there;
	size_t entry = SIZE_MAX;

	if (place->text) {
		file->texts++;
		return 0;
	}
	if (open_container(err, baking, place, &is_there))
		return -1;
	if (!is_there)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	baking->write_count = 0;
	for (size_t t = 0; t < targets; t++) {
		if (baking->job->output ? add_cubin(err, baking, place, t)
								: find_ptx_to_compile(err, baking, place, t, &entry))
			return -1;
		if (!baking->job->output)
			file->modules += entry != SIZE_MAX;
	}
	return baking->write_count ? put_container(err, baking) : 0;
}

/* ---- one library */

/* Whether the runtime links for a GPU. */
static int judge_linked(struct jw_error *err, struct baking *baking)
{
	for (size_t i = 0; i < baking->places.count; i++) {
		const struct place *place = &baking->places.items[i];
		bool is_there = false;

		if (place->linked && open_container(err, baking, place, &is_there))
			return -1;
		for (size_t t = 0; is_there && t < baking->job->target_count; t++)
			baking->link[t] = baking->link[t] || is_unlinked(baking, t);
	}
	return 0;
}

static int bake_places(struct jw_error *err, struct baking *baking)
{
	struct jw_bake_file *file = baking->file;
	size_t linked = 0;

	if (judge_linked(err, baking) || read_links(err, baking))
		return -1;
	for (size_t i = 0; i < baking->places.count; i++) {
		const struct place *place = &baking->places.items[i];

		if (cancel_asked(&baking->job->cancel))
			return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
		if (place->linked ? bake_linked(err, baking, place, linked++)
						  : bake_place(err, baking, place))
			return -1;
		os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	}
	file->size_after_bytes = file->size_before_bytes;
	if (!baking->copy.file)
		return 0;
	if (baked_copy_finish(err, &baking->copy, baking->map.stat.mode))
		return -1;
	file->output = mem_string(err, baking->job->output);
	return file->output ? 0 : -1;
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
	return bake_places(err, baking);
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
	baking->room = BUF_MAX(DEVCODE_MOST_PAYLOAD);
	if (read_and_bake(&why, baking)) {
		file->failed = why;
		file->baked = 0;
	}
	baked_copy_drop(&baking->copy);
	os_map_close(&baking->map);
	for (size_t t = 0; t < ANALYSE_MOST_TARGETS; t++)
		buf_free(&baking->cubins[t]);
	buf_free(&baking->scratch);
	buf_free(&baking->room);
	mem_free(baking->entries);
	mem_free(baking->texts);
	mem_free(baking->places.items);
	mem_free(baking->objects);
	mem_free(baking->links);
	mem_free(baking);
	return why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
}
