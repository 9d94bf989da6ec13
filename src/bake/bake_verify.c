/* jw_bake_verify: the driver loads the containers of a library, in a worker with an empty cache. */
#include <jitwarm/bake.h>

#include <string.h>

#include "bake/bake_wheel.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "base/text.h"
#include "code/code_file.h"
#include "code/devcode.h"
#include "code/zip_directory.h"
#include "driver/driver_probe.h"
#include "driver/driver_session.h"
#include "driver/run_folder.h"
#include "os/file.h"
#include "os/processes.h"
#include "os/uv.h"
#include "plan/verdict.h"

enum { VERIFY_LIMIT_S = 3600, MAX_LOADS = 1 << 24 };

/* A container that a start loads on a GPU, or passes to the link at start. */
struct verify_load {
	uint64_t offset, size_bytes;
	int device;
	bool runs, compiled; /* the driver runs machine code, or compiles PTX */
	bool too_old;        /* the driver is too old for its choice, so a start fails */
	bool relocatable;
};

struct verifying {
	const struct jw_bake_verify_options *options;
	struct jw_bake_verify_result *result;
	size_t capacity; /* the capacity of the array */
	struct jw_bake_verified *file;
	char *folder; /* the run's folder */
	char *cache;  /* the cache for the current library */
	struct verify_load *loads;
	size_t load_count, load_capacity;
	size_t gpu;         /* the GPU that containers are judged for */
	size_t first;       /* the index of its first load */
	bool linked_exists; /* the library has a linked container */
	bool linked_runs;   /* one of them runs on this GPU */
	size_t at;          /* the index of the next load */
	struct protocol_job job;
};

/* Returns whether the driver is too old for the code. Such code is not passed to the driver: a
 * driver of CUDA 12 ends its process at code of CUDA 13. */
static bool is_driver_too_old(struct plan_judgement judged)
{
	return judged.verdict == VERDICT_CANNOT &&
		   (judged.reason == REASON_ZSTD || judged.reason == REASON_TOO_NEW ||
			judged.reason == REASON_NEWER_CODE);
}

static int judge_load(struct jw_error *err, struct verifying *verifying,
					  const struct devcode_container *container)
{
	const struct jw_system *system = verifying->options->system;
	const struct jw_gpu *gpu = &system->gpus[verifying->gpu];
	const struct jw_driver driver = profile_of_system(system).driver;
	const struct plan_judgement judged = plan_judge(container, NULL, false, gpu->target, &driver),
								object = plan_judge(container, NULL, true, gpu->target, &driver);

	if (VEC_ROOM(err, verifying->loads, verifying->load_capacity, verifying->load_count, MAX_LOADS))
		return -1;
	verifying->loads[verifying->load_count++] = (struct verify_load){
		.offset = container->offset,
		.size_bytes = container->size_bytes,
		.device = gpu->ordinal,
		.runs = judged.verdict == VERDICT_NATIVE || judged.verdict == VERDICT_COMPATIBLE,
		.compiled = judged.verdict == VERDICT_JIT || object.verdict == VERDICT_LINK,
		.too_old = is_driver_too_old(judged),
	};
	return 0;
}

/* Finds a load, which mostly follows the one found last. */
static struct verify_load *find_load(struct verifying *verifying, uint64_t offset, size_t *hint)
{
	const size_t count = verifying->load_count - verifying->first;

	for (size_t i = 0; i < count; i++) {
		const size_t at = verifying->first + (*hint - verifying->first + i) % count;

		if (verifying->loads[at].offset == offset) {
			*hint = at + 1;
			return &verifying->loads[at];
		}
	}
	return NULL;
}

/* Adds the facts about containers that only the whole image shows. */
static int complete_loads(struct jw_error *err, struct verifying *verifying,
						  const struct devcode_image *image)
{
	size_t hint = verifying->first;

	if (image->member)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s: an archive: unpack it",
						 verifying->file->path);
	for (size_t i = 0; i < image->container_count; i++) {
		const struct devcode_container *container = &image->containers[i];
		struct verify_load *load = find_load(verifying, container->offset, &hint);

		if (!load) /* this container is a text */
			continue;
		load->relocatable = container->section < image->section_count &&
							image->sections[container->section].role == DEVCODE_RELOCATABLE;
		verifying->linked_exists = verifying->linked_exists || container->linked;
		verifying->linked_runs = verifying->linked_runs || (container->linked && load->runs);
	}
	return 0;
}

/* The objects are linked at start only if no result of the link runs. */
static void drop_unused(struct verifying *verifying)
{
	const bool links = verifying->linked_exists && !verifying->linked_runs;
	size_t kept = verifying->first;

	for (size_t i = verifying->first; i < verifying->load_count; i++) {
		const struct verify_load load = verifying->loads[i];

		if (!links && load.relocatable)
			continue;
		verifying->file->too_old += load.too_old;
		if (load.runs || load.compiled)
			verifying->loads[kept++] = load;
	}
	verifying->load_count = kept;
}

static bool is_first_of_target(const struct jw_system *system, size_t gpu)
{
	for (size_t i = 0; i < gpu; i++)
		if (jw_target_equal(system->gpus[i].target, system->gpus[gpu].target))
			return false;
	return true;
}

static int read_loads(struct jw_error *err, struct verifying *verifying)
{
	const char *path = verifying->file->path;
	struct code_reader *reader;
	struct code_found found;
	struct jw_error failed = {0};
	int step, result = 0;

	if (code_open(err, path, &verifying->options->cancel, &reader))
		return -1;
	while (!result && (step = code_next(err, reader, &found)) != CODE_END) {
		if (step == CODE_CONTAINER)
			result = judge_load(err, verifying, found.container);
		else if (step == CODE_IMAGE)
			result = complete_loads(err, verifying, found.image);
		else if (step == CODE_FAILED)
			result = -1;
		else if (!failed.code)
			failed = found.why;
	}
	code_close(reader);
	if (!result && failed.code) {
		(void)error_copy(err, &failed);
		result = error_prefix(err, "%s", path);
	}
	return result;
}

static int list_loads(struct jw_error *err, struct verifying *verifying)
{
	const struct jw_system *system = verifying->options->system;

	verifying->load_count = 0;
	for (size_t i = 0; i < system->gpu_count; i++) {
		if (!is_first_of_target(system, i))
			continue;
		verifying->gpu = i;
		verifying->first = verifying->load_count;
		verifying->linked_runs = verifying->linked_exists = false;
		if (read_loads(err, verifying))
			return -1;
		drop_unused(verifying);
	}
	return 0;
}

static int see_compiler(struct jw_error *err, void *context, const char *path, bool replaced)
{
	const char *name = os_base_name(path);
	bool *seen = context;

	(void)err;
	(void)replaced;
	*seen = *seen || text_starts(name, "libnvidia-ptxjitcompiler.so") ||
			text_starts_fold(name, "nvptxjitcompiler");
	return 0;
}

static const struct protocol_job *job_at(struct verifying *verifying, size_t at)
{
	const struct verify_load *load = &verifying->loads[at];

	verifying->job.id = at + 1;
	verifying->job.device = load->device;
	verifying->job.form = load->relocatable ? CACHE_KEY_LINK : CACHE_KEY_LOAD;
	verifying->job.offset = load->offset;
	verifying->job.size_bytes = load->size_bytes;
	return &verifying->job;
}

/* Called after a load, while the worker is waiting, and has its files open. */
static const struct protocol_job *after_load(void *context, const struct protocol_answer *answer)
{
	struct verifying *verifying = context;

	verifying->file->refused += answer->result != 0;
	if (++verifying->at < verifying->load_count)
		return job_at(verifying, verifying->at);
	(void)os_mapped_code(NULL, (int)uv_os_getpid(), see_compiler,
						 &verifying->file->compiler_opened);
	return NULL;
}

static int load_all(struct jw_error *err, struct verifying *verifying)
{
	const struct jw_system *system = verifying->options->system;
	struct protocol_hello hello = {0};
	struct protocol_answer answer;
	struct driver_query ask = {
		.worker = system->worker,
		.cache_dir = verifying->cache,
		.next = after_load,
		.context = verifying,
		.limit_s = VERIFY_LIMIT_S,
		.cancel = &verifying->options->cancel,
	};

	if (strlen(verifying->file->path) >= sizeof verifying->job.path)
		return error_set(err, JW_ERR_LIMIT, "%s: the path is too long", verifying->file->path);
	TEXT_COPY(verifying->job.path, verifying->file->path);
	verifying->at = 0;
	ask.job = job_at(verifying, 0);
	if (driver_query(err, &ask, &hello, &answer))
		return -1;
	if (hello.result)
		return error_set(err, JW_ERR_DRIVER, "%s", hello.error);
	if (verifying->at < verifying->load_count)
		return error_set(err, JW_ERR_DRIVER, "%s: the driver loaded %zu of %zu containers",
						 verifying->file->path, verifying->at, verifying->load_count);
	verifying->file->entries = (size_t)run_folder_count_entries(verifying->cache);
	return 0;
}

static int verify_library(struct jw_error *err, struct verifying *verifying, const char *path)
{
	int result;

	verifying->file->path = arena_string(verifying->result, path);
	if (list_loads(err, verifying))
		return -1;
	verifying->file->containers = verifying->load_count + verifying->file->too_old;
	if (!verifying->load_count)
		return 0;
	verifying->cache = os_join(verifying->folder, "verify");
	result = os_make_dirs(err, verifying->cache, 0700);
	if (!result)
		result = load_all(err, verifying);
	(void)os_remove_tree(NULL, verifying->cache);
	mem_free(verifying->cache);
	return result;
}

struct unpacked {
	struct os_file *file;
	uint64_t size_bytes;
};

static int write_unpacked(struct jw_error *err, void *context, const uint8_t *data, size_t size)
{
	struct unpacked *unpacked = context;

	if (os_file_write(err, unpacked->file, unpacked->size_bytes, data, size))
		return -1;
	unpacked->size_bytes += size;
	return 0;
}

static int unpack(struct jw_error *err, const struct verifying *verifying, const struct os_map *map,
				  const struct zip_member *member, const char *path)
{
	struct unpacked unpacked = {0};
	int result;

	if (bake_package_check_size(err, member->name, member->packed_bytes, member->size_bytes) ||
		os_file_open(err, path, OS_OPEN_CREATE, &unpacked.file))
		return -1;
	result =
		zip_member_unpack(err, map, member, &verifying->options->cancel, write_unpacked, &unpacked);
	os_file_close(unpacked.file);
	return result;
}

static struct jw_bake_verified *next_verified(struct verifying *verifying)
{
	struct jw_bake_verify_result *result = verifying->result;

	(void)ARENA_ROOM(NULL, result, result->items, verifying->capacity, result->count, SIZE_MAX);
	verifying->file = &result->items[result->count++];
	*verifying->file = (struct jw_bake_verified){0};
	return verifying->file;
}

static int verify_member(struct jw_error *err, struct verifying *verifying, const char *wheel,
						 const struct os_map *map, const struct zip_member *member)
{
	char *path = os_join(verifying->folder, "member");
	struct jw_bake_verified *file = next_verified(verifying);
	struct jw_error why = {0};
	int result = 0;

	if (unpack(&why, verifying, map, member, path) || verify_library(&why, verifying, path)) {
		file->failed = why;
		(void)error_prefix(&file->failed, "%s: %s", wheel, member->name);
		result = why.code == JW_ERR_INTERRUPTED ? error_copy(err, &why) : 0;
	}
	(void)os_remove(NULL, path);
	mem_free(path);
	file->path = arena_string(verifying->result, wheel);
	file->member = arena_string(verifying->result, member->name);
	return result;
}

/* Verifies the wheel's libraries one after the other. */
static int verify_wheel(struct jw_error *err, struct verifying *verifying, const char *path)
{
	struct zip_directory directory = {0};
	struct os_map map;
	int result;

	if (os_map_open(err, path, &map))
		return -1;
	result = zip_directory_read(err, &map, &directory);
	for (size_t i = 0; !result && i < directory.count; i++) {
		uint8_t head[KIND_HEAD];
		const size_t size = zip_member_head(&map, &directory.members[i], head, sizeof head);

		if (kind_of(head, size) != KIND_NONE)
			result = verify_member(err, verifying, path, &map, &directory.members[i]);
	}
	if (result)
		(void)error_prefix(err, "%s", path);
	zip_directory_free(&directory);
	os_map_close(&map);
	return result;
}

static int verify_libraries(struct jw_error *err, const struct jw_bake_verify_options *options,
							struct jw_bake_verify_result *result)
{
	struct verifying *verifying;
	struct run_folder folder;
	int failed = 0;

	if (run_folder_make(err, options->system->state_dir, &folder))
		return -1;
	verifying = mem_alloc(sizeof *verifying);
	verifying->options = options;
	verifying->folder = folder.path;
	verifying->result = result;
	for (size_t i = 0; !failed && i < options->path_count; i++) {
		const char *path = options->paths[i];
		struct jw_error why = {0};

		if (cancel_check(err, &options->cancel)) {
			failed = -1;
		} else if (text_ends(path, ".whl")) {
			if (verify_wheel(&why, verifying, path) && why.code != JW_ERR_INTERRUPTED) {
				next_verified(verifying)->path = arena_string(verifying->result, path);
				verifying->file->failed = why;
			}
		} else {
			(void)next_verified(verifying);
			if (verify_library(&why, verifying, path))
				verifying->file->failed = why;
		}
		if (!failed && why.code == JW_ERR_INTERRUPTED)
			failed = error_copy(err, &why);
	}
	run_folder_remove(&folder);
	mem_free(verifying->loads);
	mem_free(verifying);
	return failed;
}

int jw_bake_verify(struct jw_error *err, const struct jw_bake_verify_options *options,
				   struct jw_bake_verify_result **ret_result)
{
	struct jw_bake_verify_result *result;

	if (!options->system->gpu_count)
		return error_set(err, JW_ERR_NOT_FOUND, "%s", options->system->why_none);
	result = arena_open(sizeof *result);
	if (verify_libraries(err, options, result)) {
		jw_result_free(result);
		return -1;
	}
	*ret_result = result;
	return 0;
}
