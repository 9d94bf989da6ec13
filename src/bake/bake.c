#include <jitwarm/bake.h>

#include <stdio.h>
#include <string.h>

#include "bake/bake_file.h"
#include "bake/bake_wheel.h"
#include "bake/baking.h"
#include "bake/library_owner.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "base/text.h"
#include "code/release.h"
#include "code/target_names.h"
#include "driver/driver_probe.h"
#include "driver/installed_compilers.h"
#include "driver/nvjitlink.h"
#include "os/file.h"
#include "plan/verdict.h"

/* Returns the library's folder without links and "..", with the library's name: a copy has the name
 * under which a program loads the library, and lies in the output folder, no matter how the library
 * was named. NULL if there is no such folder. */
static char *place_of_library(struct jw_error *err, void *owner, const char *path)
{
	char *real;

	if (os_real_path(err, arena_keep(owner, os_dir_name(path)), &real))
		return NULL;
	return arena_keep(owner, os_join(arena_keep(owner, real), os_base_name(path)));
}

/* Returns the length of the path of the innermost folder that contains all of them, with its
 * separator; at least the root's. */
static size_t common_folder(char *const *places, size_t count)
{
	size_t length = count ? (size_t)(os_base_name(places[0]) - places[0]) : 0;

	for (size_t i = 1; i < count; i++) {
		size_t end = 0;

		for (size_t same = 0; same < length && places[i][same] == places[0][same]; same++)
			if (os_is_separator(places[i][same]))
				end = same + 1;
		length = end;
	}
	return length;
}

struct bake {
	const struct jw_bake_options *options;
	struct jw_bake_options given; /* `options`, with `system` in place of the caller's */
	struct jw_system system;      /* with the driver and the stamp that the compiler stands for */
	struct jw_bake_result *result;
	struct cache_profile profile;
	struct bake_files files; /* the files of the result */
	uint32_t code_cuda;      /* the CUDA version of the compiler (1000 * major + 10 * minor) */
	struct linker linker;
};

int jw_bake_check(struct jw_error *err, const struct jw_bake_options *options)
{
	const struct jw_system *system = options->system;
	struct jw_error why;

	if (!options->dry_run && (!options->output || !*options->output))
		return error_set(err, JW_ERR_USAGE, "name a folder for the copies");
	if (!options->dry_run && os_may_make(&why, options->output))
		return error_set(err, JW_ERR_IO, "%s: cannot hold the copies: %s", options->output,
						 why.message);
	if (!system->gpu_count)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "%s; “--target %s --fetch” bakes for another machine", system->why_none,
						 system->example);
	if (!options->dry_run && !system->cache.path)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s",
						 *system->cache.why_useless ? system->cache.why_useless
													: "the driver uses no cache on this machine");
	return options->nvjitlink ? linker_named(err, options->nvjitlink) : 0;
}

/* The modules that a start would have to compile, for the choice of a compiler for other
 * machines. */
struct compiler_work {
	const struct jw_system *system;
	struct gpu_isa isa; /* the newest ISA; zeros if there is nothing to compile */
	bool link;          /* some of them may be linked */
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
		/* A library that cannot be read is reported when it is baked. */
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

/* Returns the oldest sufficient version; `driver` is 0 if no driver is named. */
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

/* Chooses the compiler. Without a driver's name (the system's driver is unknown) only GPUs and PTX
 * decide: *ret_compiler is the oldest ptxas, installed or fetchable, that knows the GPUs and reads
 * the PTX that a start would compile; newer than CUDA 12 only if necessary. With a driver's name,
 * it is not newer than that driver. `path`, which lives in the arena of `owner`, is NULL if nothing
 * is to be compiled. */
static int choose_compiler(struct jw_error *err, void *owner, const struct jw_bake_options *options,
						   const struct jw_prime_options *prime, struct compiler *ret_compiler)
{
	const struct jw_driver *driver = &options->system->driver.version;
	struct compiler_work work = {.system = options->system};
	uint32_t least, most;

	*ret_compiler = (struct compiler){0};
	if (find_work(err, options, &work))
		return -1;
	if (!work.isa.major)
		return 0;
	if (prime->compile.ptxas)
		return compiler_named(err, owner, driver, prime->compile.ptxas, ret_compiler);
	/* For PTX that is newer than the table, the driver's own version is tried. */
	if (!gpu_isa_driver(work.isa).cuda && driver->cuda)
		return compiler_find(err, owner, driver, prime->compile.fetch, ret_compiler);
	if (!gpu_isa_driver(work.isa).cuda)
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"this jitwarm does not know PTX ISA %u.%u: name a ptxas that compiles it with --ptxas "
			"FILE",
			work.isa.major, work.isa.minor);
	least = least_version(&work, driver->cuda);
	most = driver->cuda ? driver->cuda : (least < 13000 ? 12990 : least / 1000 * 1000 + 990);
	return compiler_oldest(err, owner, least, most, prime->compile.fetch, ret_compiler);
}

static void describe_failure(struct jw_error *why, const struct jw_prime_failure *failure)
{
	const int first_line = (int)strcspn(failure->log, "\n");
	char target[JW_TARGET_TEXT];

	error_set(why, JW_ERR_UNSUPPORTED, "%s%s%s at 0x%llx (%s): %s%s%.*s", failure->path,
			  failure->member ? ": " : "", failure->member ? failure->member : "",
			  (unsigned long long)failure->offset, jw_target_sm(target, failure->target),
			  failure->reason, first_line ? ": " : "", first_line, failure->log);
}

/* Names the code in the cache if no driver does: the entries' stamp has the form of a driver's,
 * with the compiler's version as the time. No driver looks for such an entry. */
static void name_code(struct bake *bake, const struct compiler *compiler)
{
	struct jw_driver_info *driver = &bake->system.driver;
	/* A cache that the user named may hold entries that the driver itself has made. */
	const bool only_this = !driver->stamp[0] || bake->system.scratch;

	if (!driver->version.cuda)
		driver->version.cuda = compiler->cuda;
	if (!driver->stamp[0])
		(void)snprintf(driver->stamp, sizeof driver->stamp, "Jan  1 1970%02u:%02u:00",
					   compiler->cuda / 1000 % 100, compiler->cuda % 1000 / 10);
	driver->trust = JW_TRUST_READ;
	bake->profile = profile_of_system(&bake->system);
	bake->code_cuda = only_this ? compiler->cuda : driver->version.cuda;
	bake->result->driver = bake->profile.driver;
}

/* Compiles everything that a start may compile into the cache that supplies the code. */
static int compile_cold(struct jw_error *err, struct bake *bake, const char *const *paths,
						size_t path_count)
{
	const struct jw_bake_options *options = bake->options;
	const struct jw_prime_options *given = options->prime;
	struct jw_prime_result *primed;
	struct compiler compiler = {0};
	struct jw_prime_options how;

	bake->linker.fetch = given->compile.fetch;
	if (options->system->elsewhere) {
		if (choose_compiler(err, bake->result, options, given, &compiler))
			return -1;
		if (!compiler.path)
			return 0;
		name_code(bake, &compiler);
	}
	how = *given;
	how.compile.ptxas = compiler.path ? compiler.path : how.compile.ptxas;
	how.plan.paths = paths;
	how.plan.path_count = path_count;
	how.plan.found = NULL;
	how.plan.everything = true;
	how.dry_run = false;
	how.keep.pack = NULL;
	how.cancel = options->cancel;
	if (jw_prime(err, options->system, &how, &primed))
		return -1;
	bake->result->interrupted = primed->compile.interrupted;
	bake->result->uncompiled = primed->compile.failed + primed->compile.undone;
	bake->result->uncompiled_why = primed->compile.stopped;
	if (primed->compile.failure_count)
		describe_failure(&bake->result->uncompiled_why, &primed->compile.failures[0]);
	jw_result_free(primed);
	return 0;
}

static struct bake_file_job job_of(struct bake *bake, const char *output)
{
	const struct jw_bake_options *options = bake->options;

	return (struct bake_file_job){
		.system = options->system,
		.linker = &bake->linker,
		.cache_dir = options->system->cache.path,
		.profile = &bake->profile,
		.code_cuda = bake->code_cuda,
		.targets = bake->result->targets,
		.target_count = bake->result->target_count,
		.output = output,
		.cancel = options->cancel,
	};
}

/* Finds out whether the copy would overwrite another library that has something to bake, perhaps
 * before it is read. An earlier copy has nothing to bake, and is replaced. */
static int overwrites_input(struct jw_error *err, struct bake *bake,
							const struct jw_found_file *found, const char *output,
							bool *ret_overwrites)
{
	const struct jw_found_file *files = bake->options->found->files;
	const struct bake_file_job look = job_of(bake, NULL);
	const size_t count = bake->options->found->file_count;
	const uint64_t identity = baked_copy_identity(output);
	struct jw_bake_file other = {0};
	size_t input = 0;

	*ret_overwrites = false;
	while (identity && input < count && baked_copy_identity(files[input].path) != identity)
		input++;
	if (!identity || input == count || &files[input] == found)
		return 0;
	other.path = files[input].path;
	if (bake_file(err, &look, &other))
		return -1;
	*ret_overwrites = other.modules || other.failed.code;
	return 0;
}

/* Bakes a library; `output` is the copy's path, NULL in a dry run. Also reads a library that may
 * not be copied: it is refused only if there is something to bake. */
static int bake_one(struct jw_error *err, struct bake *bake, const struct jw_found_file *found,
					const char *output, struct jw_bake_file *file)
{
	struct jw_error why = {0};
	struct bake_file_job job = job_of(bake, NULL);
	bool overwrites = false;

	if (output && overwrites_input(err, bake, found, output, &overwrites))
		return -1;
	if (overwrites)
		error_set(
			&why, JW_ERR_USAGE,
			"%s: the copy would overwrite another library that is to be baked: name another folder",
			output);
	else if (!library_allows_copy(&why, found, bake->options->any_owner))
		job.output = output;
	if (bake_file(err, &job, file))
		return -1;
	if (why.code && file->modules && !file->failed.code)
		file->failed = why;
	return 0;
}

/* Bakes a package; only the folder of `place` counts (bake_found). */
static int bake_found_package(struct jw_error *err, struct bake *bake,
							  const struct jw_found_file *found, const char *place, bool only_check,
							  struct bake_files *files)
{
	const struct jw_bake_options *options = bake->options;
	struct bake_package_job job = {.file = job_of(bake, NULL),
								   .any_owner = options->any_owner,
								   .path = found->path,
								   .state_dir = options->system->state_dir,
								   .packing = options->packing,
								   .context = options->packing_context,
								   .only_check = only_check};
	const char *below;

	if (!options->dry_run) {
		below =
			arena_keep(bake->result, mem_string_n(place, (size_t)(os_base_name(place) - place)));
		job.folder =
			*below ? arena_keep(bake->result, os_join(options->output, below)) : options->output;
	}
	return bake_package(err, &job, files);
}

/* Finds out whether nothing of a file would be baked; then nothing of it is compiled either. */
static int is_library_refused(struct jw_error *err, struct bake *bake,
							  const struct jw_found_file *found, const char *place,
							  bool *ret_refused)
{
	struct bake_files files = {.owner = bake->result};
	int result;

	if (!bake_is_package(found->path)) {
		*ret_refused = library_allows_copy(NULL, found, bake->options->any_owner) != 0;
		return 0;
	}
	result = bake_found_package(err, bake, found, place, /* only_check= */ true, &files);
	*ret_refused = files.count > 0;
	return result;
}

static int compile_accepted(struct jw_error *err, struct bake *bake, char *const *places,
							size_t common)
{
	const struct jw_found *found = bake->options->found;
	const char **paths = arena_array(bake->result, found->file_count, sizeof *paths);
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; !result && i < found->file_count; i++) {
		bool refused = false;

		result = is_library_refused(err, bake, &found->files[i], places[i] + common, &refused);
		if (!refused)
			paths[count++] = found->files[i].path;
	}
	if (!result && count)
		result = compile_cold(err, bake, paths, count);
	return result;
}

/* Bakes a found file; `place` is the place of its copy, below the output folder. */
static int bake_found(struct jw_error *err, struct bake *bake, const struct jw_found_file *found,
					  const char *place)
{
	const struct jw_bake_options *options = bake->options;
	struct jw_bake_file file = {.path = arena_string(bake->result, found->path)};
	const char *output;

	if (bake_is_package(found->path))
		return bake_found_package(err, bake, found, place, /* only_check= */ false, &bake->files);
	output = options->dry_run ? NULL : arena_keep(bake->result, os_join(options->output, place));
	if (bake_one(err, bake, found, output, &file))
		return -1;
	bake->files.images += file.size_before_bytes > 0;
	if (file.modules || file.failed.code)
		bake_files_add(&bake->files, &file);
	return 0;
}

static int bake_all(struct jw_error *err, struct bake *bake)
{
	const struct jw_found *found = bake->options->found;
	char **places = arena_array(bake->result, found->file_count, sizeof *places);
	size_t common = 0, count = 0;
	int result = 0;

	for (; !result && count < found->file_count; count++) {
		places[count] = place_of_library(err, bake->result, found->files[count].path);
		if (!places[count])
			result = -1;
	}
	if (!result)
		common = common_folder(places, count);
	if (!result && count && !common)
		result =
			error_set(err, JW_ERR_USAGE,
					  "the libraries are on several drives: bake those of one drive at a time");
	if (!result && bake->options->prime && !bake->options->dry_run)
		result = compile_accepted(err, bake, places, common);
	for (size_t i = 0; !result && i < count; i++)
		result = bake_found(err, bake, &found->files[i], places[i] + common);
	return result;
}

int jw_bake(struct jw_error *err, const struct jw_bake_options *options,
			struct jw_bake_result **ret_result)
{
	const struct jw_system *system = options->system;
	struct jw_bake_result *made;
	struct bake bake;
	int result;

	if (jw_bake_check(err, options))
		return -1;
	made = arena_open(sizeof *made);
	bake = (struct bake){
		.given = *options,
		.options = &bake.given,
		.system = *system,
		.profile = profile_of_system(system),
		.files.owner = made,
		.linker = {.owner = made, .named = options->nvjitlink, .most = system->driver.version.cuda},
		.result = made};
	bake.given.system = &bake.system;
	bake.code_cuda = bake.profile.driver.cuda;
	made->driver = bake.profile.driver;
	made->targets = arena_array(made, system->gpu_count, sizeof *made->targets);
	made->target_count = jw_system_targets(system, made->targets, system->gpu_count);
	if (made->target_count > PLAN_MAX_TARGETS)
		result = error_set(err, JW_ERR_USAGE, "more than %d GPU architectures at once",
						   PLAN_MAX_TARGETS);
	else if (!options->dry_run && !system->elsewhere &&
			 (!bake.profile.stamp[0] || bake.profile.trust == JW_TRUST_OPAQUE))
		result = error_set(
			err, JW_ERR_UNSUPPORTED,
			"jitwarm does not know the form of this driver's cache, and cannot read code from it");
	else
		result = bake_all(err, &bake);
	linker_free(&bake.linker);
	made->files = bake.files.items;
	made->file_count = bake.files.count;
	made->images = bake.files.images;
	if (result)
		jw_result_free(made);
	else
		*ret_result = made;
	return result;
}
