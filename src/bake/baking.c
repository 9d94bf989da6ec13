#include "bake/baking.h"

#include <string.h>

#include <jitwarm/system.h>

#include "bake/link_place.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "compile/installed_compilers.h"
#include "compile/nvjitlink.h"
#include "compile/ptxas.h"
#include "devcode/container.h"
#include "devcode/cubin.h"
#include "devcode/devcode.h"
#include "gpu/release.h"
#include "gpu/rules.h"
#include "os/file.h"
#include "plan/picks.h"
#include "plan/verdict.h"

enum { FIRST_COMPAT_SM = 100 };

struct baking *baking_new(const struct bake_file_job *job, struct jw_bake_file *file)
{
	struct baking *baking = mem_alloc(sizeof *baking);

	baking->job = job;
	baking->file = file;
	baking->scratch = BUF_MAX(DEVCODE_MOST_PAYLOAD + 1);
	return baking;
}

void baking_free(struct baking *baking)
{
	if (!baking)
		return;
	baked_output_drop(baking);
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
}

int baking_open(struct baking *baking, const struct bake_place *place, bool *ret_is_there)
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
		baking->entries = mem_array(walk.entries, sizeof *baking->entries);
		baking->texts = mem_array(walk.entries, sizeof *baking->texts);
		if (!baking->texts)
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

int baking_find_ptx(struct baking *baking, const struct bake_place *place, size_t target,
					size_t *ret_entry)
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
			plan_read_text(&baking->container, &baking->entries[i], &baking->texts[i]);
	}
	/* A library itself links other relocatable code, and needs its PTX. */
	if (judged.verdict == VERDICT_JIT || (relocatable && baking->link[target]))
		*ret_entry = judged.entry;
	return 0;
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
	int failed;

	if (devcode_payload(err, &baking->container, entry, &baking->scratch, &payload))
		return -1;
	input = picks_key_input(&baking->container, entry, payload, job->targets[target].sm,
							relocatable ? CACHE_KEY_LINK : CACHE_KEY_LOAD);
	path = cache_entry_path(job->cache_dir, cache_key_hash(job->profile, &input, NULL));
	if (!path)
		return -1;
	buf_free(bytes);
	failed = os_read_file(err, path, CACHE_MOST_ENTRY, bytes);
	mem_free(path);
	if (failed)
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

/* What a start would have to compile. */
struct compiler_work {
	const struct jw_system *system;
	struct gpu_isa isa; /* the newest; zeros: nothing */
	bool link;          /* some of it may be linked */
};

static void note_ptx_isa(struct compiler_work *work, const struct devcode_container *container)
{
	for (size_t i = 0; i < work->system->gpu_count; i++) {
		const struct plan_judgement judged = plan_judge(
			container, NULL, false, work->system->gpus[i].target, &work->system->driver.version);
		const struct devcode_entry *entry;

		if (judged.entry == SIZE_MAX)
			continue;
		entry = &container->entries[judged.entry];
		if (gpu_isa_compare((struct gpu_isa){entry->isa_major, entry->isa_minor}, work->isa) > 0)
			work->isa = (struct gpu_isa){entry->isa_major, entry->isa_minor};
	}
}

static int find_work(struct jw_error *err, const struct jw_bake_options *options,
					 struct compiler_work *work)
{
	for (size_t i = 0; i < options->found->file_count; i++) {
		struct code_reader *reader;
		struct code_found found;
		int step;

		if (code_open(err, options->found->files[i].path, &options->cancel, &reader))
			return -1;
		/* A library that cannot be read is told of when it is baked. */
		while ((step = code_next(err, reader, &found)) > CODE_END) {
			if (step == CODE_CONTAINER)
				note_ptx_isa(work, found.container);
			for (size_t k = 0; step == CODE_IMAGE && k < found.image->container_count; k++)
				work->link = work->link || found.image->containers[k].linked;
		}
		code_close(reader);
		if (step)
			return -1;
	}
	return 0;
}

/* The oldest version that will do; `driver` 0: none is named. */
static uint32_t least_version(const struct compiler_work *work, uint32_t driver)
{
	uint32_t least = gpu_isa_driver(work->isa).cuda;

	/* ptxas and nvJitLink of one version then make all of the code. */
	if (work->link && least < NVJITLINK_FIRST_CUDA && (!driver || driver >= NVJITLINK_FIRST_CUDA))
		least = NVJITLINK_FIRST_CUDA;
	for (size_t i = 0; i < work->system->gpu_count; i++) {
		const uint32_t cuda = gpu_first_cuda(gpu_jit_target(work->system->gpus[i].target, driver));

		least = cuda > least ? cuda : least;
	}
	return least;
}

/* A named ptxas of any version: no driver says which is too new. */
static int take_any(struct jw_error *err, const char *file, struct jw_compiler *ret_compiler)
{
	struct jw_compiler compiler = {0};

	if (os_real_path(err, file, &compiler.path))
		return -1;
	if (ptxas_version(err, compiler.path, &compiler.cuda)) {
		jw_compiler_free(&compiler);
		return -1;
	}
	*ret_compiler = compiler;
	return 0;
}

int bake_compiler_choose(struct jw_error *err, const struct jw_bake_options *options,
						 const struct jw_prime_options *prime, struct jw_compiler *ret_compiler)
{
	const struct jw_driver *driver = &options->system->driver.version;
	struct compiler_work work = {.system = options->system};
	uint32_t least, most;

	*ret_compiler = (struct jw_compiler){0};
	if (find_work(err, options, &work))
		return -1;
	if (!work.isa.major)
		return 0;
	if (prime->compile.ptxas)
		return driver->cuda ? compiler_find(err, driver, prime->compile.ptxas, NULL, ret_compiler)
							: take_any(err, prime->compile.ptxas, ret_compiler);
	/* What is newer than the table is tried with the driver's own. */
	if (!gpu_isa_driver(work.isa).cuda && driver->cuda)
		return compiler_find(err, driver, NULL, prime->compile.fetch, ret_compiler);
	if (!gpu_isa_driver(work.isa).cuda)
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"PTX of ISA %u.%u is newer than this jitwarm knows: --ptxas FILE names the "
			"ptxas that compiles it",
			work.isa.major, work.isa.minor);
	least = least_version(&work, driver->cuda);
	most = driver->cuda ? driver->cuda : (least < 13000 ? 12990 : least / 1000 * 1000 + 990);
	return compiler_oldest(err, least, most, prime->compile.fetch, ret_compiler);
}

/* ---- what goes into it */

/* Adds the machine code of one container for one GPU, or records why there is none. */
static int add_cubin(struct baking *baking, const struct bake_place *place, size_t target)
{
	struct jw_bake_file *file = baking->file;
	const struct jw_target device = baking->job->targets[target];
	struct jw_error why = {0};
	struct devcode_view cubin;
	size_t index;

	if (baking_find_ptx(baking, place, target, &index))
		return -1;
	if (index == SIZE_MAX)
		return 0;
	file->modules++;
	if (baking_find_cubin(&why, baking, target, index, place->role == DEVCODE_RELOCATABLE,
						  &cubin)) {
		file->uncompiled++;
		return 0;
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

		/* Whether drivers of CUDA 12 load what compilers of CUDA 13 make for sm_100 is not known */
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

/* Writes the container at hand, with what is added, into the copy. */
static int put_container(struct jw_error *err, struct baking *baking,
						 const struct bake_place *place)
{
	struct jw_bake_file *file = baking->file;
	struct container_form form = {0};
	struct baked_put put = {0};
	int failed =
		container_edit(err, &baking->container, baking->writes, baking->write_count, &form) ||
		baked_output_put(err, baking, &form, place->may_move, &put);

	if (!failed && !put.written) {
		file->no_room += baking->write_count;
		if (!file->no_room_why.code)
			file->no_room_why = put.why;
	} else if (!failed) {
		note_drivers(baking, has_zstd(&form), file);
		file->baked += baking->write_count;
		file->moved += put.moved;
		file->linked += place->linked ? baking->write_count : 0;
	}
	container_form_free(&form);
	return failed ? -1 : 0;
}

static int add_compiled(struct jw_error *err, struct baking *baking, const struct bake_place *place)
{
	size_t entry = SIZE_MAX;
	bool is_there;

	if (baking_open(baking, place, &is_there))
		return -1;
	if (!is_there)
		return error_set(err, JW_ERR_UNSUPPORTED, "the file is packed: unpack it first");
	for (size_t t = 0; t < baking->job->target_count; t++) {
		if (baking->job->output ? add_cubin(baking, place, t)
								: baking_find_ptx(baking, place, t, &entry))
			return -1;
		if (!baking->job->output)
			baking->file->modules += entry != SIZE_MAX;
	}
	return 0;
}

/* The containers of its objects were at hand meanwhile. */
static int add_linked(struct jw_error *err, struct baking *baking, const struct bake_place *place,
					  size_t linked)
{
	bool is_there;

	for (size_t t = 0; t < baking->job->target_count; t++)
		if (link_place_add(err, baking, place, linked, t))
			return -1;
	return baking->write_count ? baking_open(baking, place, &is_there) : 0;
}

int bake_place(struct jw_error *err, struct baking *baking, const struct bake_place *place,
			   size_t linked)
{
	baking->write_count = 0;
	if (place->text) {
		baking->file->texts++;
		return 0;
	}
	if (place->linked ? add_linked(err, baking, place, linked) : add_compiled(err, baking, place))
		return -1;
	return baking->write_count ? put_container(err, baking, place) : 0;
}
