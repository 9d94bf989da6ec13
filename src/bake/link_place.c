#include "bake/link_place.h"

#include <string.h>

#include "bake/linker.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/container.h"
#include "code/cubin.h"
#include "code/rules.h"
#include "code/target_names.h"
#include "code/write.h"
#include "driver/compiler_fetch.h"
#include "driver/nvjitlink.h"
#include "os/file.h"
#include "plan/verdict.h"

/* Links once what the CUDA runtime would link at each start. Source: docs/internals/fatbin.md, "Who
 * links, and when". The driver does it in a worker; for another machine, nvJitLink. */

/* The objects of one linked container, for one GPU. */
struct linking {
	struct baking *baking;
	const struct jw_system *system; /* provides worker, GPUs and folders */
	struct linker *linker;          /* links the objects */
	const struct jw_cancel *cancel;
	size_t target, linked;
	struct jw_target device;
	bool empty; /* there is nothing to link */
};

enum { MAX_INPUTS = INT32_MAX };

static const struct jw_gpu *find_gpu(const struct jw_system *system, struct jw_target device)
{
	for (size_t i = 0; !system->elsewhere && i < system->gpu_count; i++)
		if (system->gpus[i].target.sm == device.sm)
			return &system->gpus[i];
	return NULL;
}

/* Records the newest compiler whose code for the GPU the container has. */
static int note_object_compiler(struct jw_error *err, const struct buf *object,
								struct jw_target device, uint32_t *compiler)
{
	struct devcode_container container = {.bytes = object->data, .size_bytes = object->size};
	struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD + 1);
	struct container_walk walk = {0};
	struct devcode_entry *entries;
	struct devcode_view cubin;
	int result = 0;

	if (container_check(&walk, object->data, object->size, object->size) != CONTAINER_SOUND)
		return error_set(err, JW_ERR_FORMAT, "an object is not a sound container");
	entries = mem_array(walk.entries, sizeof *entries);
	container_entries(object->data, object->size, 0, entries, walk.entries);
	for (size_t i = 0; !result && i < walk.entries; i++) {
		uint32_t cuda;

		if (entries[i].kind != DEVCODE_KIND_CUBIN ||
			gpu_sass_fit(entries[i].target, device) == GPU_FIT_NONE)
			continue;
		result = devcode_payload(err, &container, &entries[i], &scratch, &cubin);
		cuda = result ? 0 : cubin_compiler(cubin, device.sm);
		*compiler = cuda > *compiler ? cuda : *compiler;
	}
	buf_free(&scratch);
	mem_free(entries);
	return result;
}

/* Makes a container with only the object's machine code. */
static int pack_object(struct jw_error *err, struct jw_target device, struct devcode_view cubin,
					   uint64_t flags, struct buf *out)
{
	const struct write_cubin write = {
		.cubin = cubin, .target = device, .flags = flags, .compression = DEVCODE_RAW};
	const size_t before = out->size;
	static const uint8_t header[CONTAINER_HEADER];

	if (buf_append(err, out, header, sizeof header) || write_cubin_entry(err, &write, out))
		return -1;
	store_u64(out->data + before, container_start());
	store_u64(out->data + before + 8, out->size - before - CONTAINER_HEADER);
	return 0;
}

/* Adds what the driver gets at a start: the object's container if its code runs, else the code for
 * it in the cache. */
static int add_object(struct jw_error *err, const struct linking *linking,
					  const struct bake_place *place, struct buf *out)
{
	struct baking *baking = linking->baking;
	struct devcode_view cubin;
	size_t entry;

	if (!baking_open(baking, place))
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	entry = baking_find_ptx(baking, place, linking->target);
	if (entry == SIZE_MAX)
		return buf_append(err, out, baking->container.bytes, (size_t)baking->container.size_bytes);
	if (baking_find_cubin(err, baking, linking->target, entry, /* relocatable= */ true, &cubin))
		return err->code == JW_ERR_NOT_FOUND
				   ? error_set(err, JW_ERR_UNSUPPORTED, "one of its objects was not compiled")
				   : -1;
	return pack_object(err, linking->device, cubin, baking->entries[entry].flags, out);
}

static int add_empty_object(struct jw_error *err, struct buf *out)
{
	static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n";
	const struct write_ptx ptx = {.payload = text,
								  .payload_size = sizeof text,
								  .isa_major = 6,
								  .target = {.sm = 50},
								  .compression = DEVCODE_RAW};

	return write_container(err, &ptx, out);
}

/* Writes the containers, one after the other. */
static int write_objects(struct jw_error *err, const struct linking *linking, const char *path,
						 uint64_t *ret_bytes, uint32_t *compiler)
{
	const struct baking *baking = linking->baking;
	struct buf object = BUF_MAX(DEVCODE_MAX_PAYLOAD);
	struct os_file *file;
	uint64_t at = 0;
	int result = 0;

	if (os_file_open(err, path, OS_OPEN_CREATE, &file))
		return -1;
	for (size_t i = 0; !result && i < (linking->empty ? 1 : baking->object_count); i++) {
		const struct bake_place *place =
			linking->empty ? NULL : &baking->places.items[baking->objects[i]];

		if (place && baking->links[i] != linking->linked)
			continue;
		buf_clear(&object);
		result = place ? add_object(err, linking, place, &object) : add_empty_object(err, &object);
		if (place)
			os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
		if (!result && at + object.size > MAX_INPUTS)
			result = error_set(err, JW_ERR_LIMIT, "more than 2 GiB to link");
		if (!result)
			result = note_object_compiler(err, &object, linking->device, compiler) ||
							 os_file_write(err, file, at, object.data, object.size)
						 ? -1
						 : 0;
		at += object.size;
	}
	os_file_close(file);
	buf_free(&object);
	*ret_bytes = at;
	return result;
}

static int ask_driver(struct jw_error *err, const struct linking *linking,
					  const struct protocol_job *what)
{
	struct protocol_answer *answer = mem_alloc(sizeof *answer);
	int result =
		linker_ask_driver(err, linking->linker, linking->system, linking->cancel, what, answer);

	if (!result && (answer->result || answer->no_context))
		result = error_set(err, JW_ERR_DRIVER, "the driver does not link its objects: %s%s%s",
						   answer->error, *answer->log ? ": " : "", answer->log);
	mem_free(answer);
	return result;
}

static int ask_linker(struct jw_error *err, const struct linking *linking, const char *library,
					  const char *folder, const struct protocol_job *what)
{
	const struct driver_query ask = {.worker = linking->system->worker,
									 .job = what,
									 .limit_s = LINKER_LIMIT_S,
									 .cancel = linking->cancel};
	struct protocol_answer *answer = mem_alloc(sizeof *answer);
	/* The objects were compiled for this target. */
	const struct jw_target target =
		gpu_jit_target(linking->device, linking->system->driver.version.cuda);
	int result;

	result = linker_ask(err, library, target, folder, ask, NULL, answer);
	if (!result && answer->result)
		result = error_set(err, JW_ERR_DRIVER, "%s does not link its objects: %s%s%.*s", library,
						   answer->error, *answer->log ? ": " : "", (int)strcspn(answer->log, "\n"),
						   answer->log);
	mem_free(answer);
	return result;
}

static int report_no_linker(struct jw_error *err, const struct linking *linking, uint32_t least,
							uint32_t most)
{
	const struct jw_error *why = &linking->linker->why;
	const uint32_t first = compiler_fetch_first(least);
	char sm[JW_TARGET_TEXT];

	if (why->code)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s", why->message);
	return error_set(
		err, JW_ERR_UNSUPPORTED,
		"no nvJitLink of CUDA %u.%u to %u.%u was found for %s: “jitwarm compiler fetch "
		"%u.%u” gets it, or add --fetch",
		least / 1000, least % 1000 / 10, most / 1000, most % 1000 / 10,
		jw_target_sm(sm, linking->device), first / 1000, first % 1000 / 10);
}

/* Tries linkers, beginning with the oldest one that knows the GPU and is not older than the
 * compilers of the objects, because most drivers load its code. If it fails, a newer one is
 * tried. */
static int try_linkers(struct jw_error *err, const struct linking *linking, const char *folder,
					   const struct protocol_job *what, uint32_t compiler)
{
	const uint32_t gpu = gpu_first_cuda(linking->device);
	const uint32_t old = gpu > compiler ? gpu : compiler;
	const uint32_t least = old > NVJITLINK_FIRST_CUDA ? old : NVJITLINK_FIRST_CUDA,
				   most = linking->linker->most ? linking->linker->most : least / 1000 * 1000 + 990;
	struct jw_error why = {0};

	if (linker_search(err, linking->linker, linking->system, linking->cancel) ||
		linker_fetch(err, linking->linker, least, most, linking->system, linking->cancel))
		return -1;
	for (size_t i = 0; i < linking->linker->count; i++) {
		const struct linker_library *library = &linking->linker->items[i];
		struct jw_error other = {0};

		if (library->cuda < least || library->cuda > most)
			continue;
		if (!ask_linker(&other, linking, library->path, folder, what)) {
			if (linking->linker->used < library->cuda)
				linking->linker->used = library->cuda;
			return 0;
		}
		if (!why.code || other.code == JW_ERR_INTERRUPTED)
			why = other;
		if (why.code == JW_ERR_INTERRUPTED)
			break;
	}
	return why.code ? error_copy(err, &why) : report_no_linker(err, linking, least, most);
}

/* Links for a GPU: its driver does, or, if `gpu` is NULL, a linker. */
static int link_in(struct jw_error *err, const struct linking *linking, const char *folder,
				   const struct jw_gpu *gpu, struct buf *cubin)
{
	struct protocol_job what = {.device = gpu ? gpu->ordinal : 0, .form = CACHE_KEY_LINK};
	char *in = os_join(folder, "link.fatbin"), *out = os_join(folder, "link.cubin");
	uint32_t compiler = 0;
	int result = -1;

	if (write_objects(err, linking, in, &what.size_bytes, &compiler))
		goto done;
	if (strlen(in) >= sizeof what.path || strlen(out) >= sizeof what.output) {
		error_set(err, JW_ERR_LIMIT, "%s: the path is too long", folder);
		goto done;
	}
	TEXT_COPY(what.path, in);
	TEXT_COPY(what.output, out);
	if (gpu ? ask_driver(err, linking, &what) : try_linkers(err, linking, folder, &what, compiler))
		goto done;
	buf_free(cubin);
	result = os_read_file(err, out, DEVCODE_MAX_PAYLOAD, cubin);
done:
	(void)os_remove(NULL, in);
	(void)os_remove(NULL, out);
	mem_free(in);
	mem_free(out);
	return result;
}

/* Finds the symbols that a program can use of the linked container, by its code for its newest
 * other GPU. If that has no symbols, no program can use any: CMake links only the device runtime
 * into such a container. Then an empty object is linked for another GPU, because the runtime's own
 * result is larger and has nothing more that can be reached. The caller frees the symbols. */
static int linked_model(struct jw_error *err, const struct devcode_container *container,
						struct cubin_symbols *ret_model)
{
	struct buf scratch = BUF_MAX(DEVCODE_MAX_PAYLOAD + 1);
	const struct devcode_entry *model = NULL;
	struct devcode_view cubin;
	int result;

	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];

		if (entry->kind == DEVCODE_KIND_CUBIN && (!model || entry->target.sm > model->target.sm))
			model = entry;
	}
	*ret_model = (struct cubin_symbols){.any = true};
	if (!model)
		return 0;
	result = devcode_payload(err, container, model, &scratch, &cubin);
	if (!result && cubin.size)
		result = cubin_symbols_read(err, cubin, ret_model);
	buf_free(&scratch);
	return result;
}

/* Checks that `cubin` can take the place in the linked container: it is machine code for the GPU,
 * linked, and has the model's kernels. JW_ERR_FORMAT with the reason if not. */
static int linked_check(struct jw_error *err, struct devcode_view cubin, struct jw_target device,
						const struct cubin_symbols *model)
{
	struct cubin_symbols symbols;
	struct cubin_header header;
	int result;

	if (cubin_read(err, cubin.data, cubin.size, &header))
		return -1;
	if (header.relocatable || header.sm != device.sm)
		return error_set(err, JW_ERR_FORMAT, "the linked code is not for the GPU");
	if (cubin_symbols_read(err, cubin, &symbols))
		return -1;
	result =
		cubin_symbols_hold(&symbols, model)
			? 0
			: error_set(err, JW_ERR_FORMAT,
						"the linked code lacks kernels that the library has for its other GPUs");
	cubin_symbols_free(&symbols);
	return result;
}

bool link_place_is_unlinked(const struct baking *baking, size_t target)
{
	const struct bake_file_job *job = baking->job;

	return plan_judge(&baking->container, NULL, false, job->targets[target], &job->profile->driver)
			   .verdict > VERDICT_COMPATIBLE;
}

void link_place_read(struct baking *baking)
{
	const struct bake_places *places = &baking->places;
	size_t linked = 0;
	bool known;

	baking->objects = mem_array(places->count, sizeof *baking->objects);
	baking->links = mem_array(places->count, sizeof *baking->links);
	for (size_t i = 0; i < places->count; i++) {
		linked += places->items[i].linked;
		if (places->items[i].role == DEVCODE_RELOCATABLE)
			baking->objects[baking->object_count++] = i;
	}
	known = range_fits(places->ids_offset, places->ids_bytes, baking->map.size) &&
			module_ids_read(baking->map.data + places->ids_offset, (size_t)places->ids_bytes,
							baking->object_count, linked, baking->links);
	for (size_t i = 0; !known && linked == 1 && i < baking->object_count; i++)
		baking->links[i] = 0;
	if (!known && linked != 1) {
		mem_free(baking->links);
		baking->links = NULL;
	}
}

/* Links the objects. JW_ERR_NOT_FOUND if nothing can link them; after other failures a start may
 * still succeed. */
static int link_objects(struct jw_error *err, struct baking *baking, size_t target, size_t linked,
						bool empty, struct buf *cubin)
{
	const struct bake_file_job *job = baking->job;
	const struct linking linking = {.baking = baking,
									.system = job->system,
									.linker = job->linker,
									.cancel = &job->cancel,
									.target = target,
									.linked = linked,
									.device = job->targets[target],
									.empty = empty};
	const struct jw_gpu *gpu = job->system ? find_gpu(job->system, linking.device) : NULL;
	const char *folder;
	bool any = empty;

	if (!empty && !baking->links)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "cannot tell which of its objects belong together");
	for (size_t i = 0; !any && i < baking->object_count; i++)
		any = baking->links[i] == linked;
	if (!any)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "the library lacks the objects of this linked code");
	if (!job->linker || (!gpu && !(job->system && job->system->elsewhere)))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "only a driver can link this code, and no driver is installed");
	if (!linker_folder(err, job->linker, job->system, &folder) &&
		!link_in(err, &linking, folder, gpu, cubin))
		return 0;
	if (err->code == JW_ERR_NOT_FOUND)
		err->code = JW_ERR_UNSUPPORTED;
	return -1;
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

	if (!baking_open(baking, place) || !link_place_is_unlinked(baking, target))
		return 0;
	file->modules++;
	if (!baking->job->output)
		return 0;
	buf_free(cubin);
	if (linked_model(&why, &baking->container, &model))
		goto refused;
	/* This container may be as large as all others together. */
	os_map_forget(&baking->map, (size_t)place->offset, (size_t)place->size_bytes);
	if (link_objects(&why, baking, target, linked, !model.any, cubin))
		goto refused;
	if (!baking_open(baking, place)) {
		error_set(&why, JW_ERR_IO, "was changed while it was baked: try again");
		goto refused;
	}
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
	if (why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	file->unlinked++;
	if (!file->unlinked_why.code)
		file->unlinked_why = why;
	return 0;
}
