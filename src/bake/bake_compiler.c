#include "bake/bake_compiler.h"

#include <jitwarm/system.h>

#include "base/mem.h"
#include "compile/compiler_find.h"
#include "compile/nvjitlink.h"
#include "compile/ptxas.h"
#include "devcode/devcode.h"
#include "gpu/release.h"
#include "gpu/rules.h"
#include "os/file.h"
#include "plan/verdict.h"

/* What a start would have to compile. */
struct compiler_work {
	const struct jw_system *system;
	struct gpu_isa isa; /* the newest; zeros: nothing */
	bool link;          /* some of it may be linked */
};

static int note_ptx_isa(struct jw_error *err, void *context,
						const struct devcode_container *container)
{
	struct compiler_work *work = context;

	(void)err;
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
	return 0;
}

static int note_linking(struct jw_error *err, void *context, const struct devcode_image *image)
{
	struct compiler_work *work = context;

	(void)err;
	for (size_t i = 0; i < image->container_count; i++)
		work->link = work->link || image->containers[i].linked;
	return 0;
}

/* A library that cannot be read is told of when it is baked. */
static void ignore_trouble(void *context, const char *path, const char *member,
						   const struct jw_error *why)
{
	(void)context;
	(void)path;
	(void)member;
	(void)why;
}

static int find_work(struct jw_error *err, const struct jw_bake_options *options,
					 struct compiler_work *work)
{
	const struct devcode_sink sink = {.context = work,
									  .container = note_ptx_isa,
									  .image = note_linking,
									  .trouble = ignore_trouble,
									  .cancel = options->cancel};

	for (size_t i = 0; i < options->found->file_count; i++)
		if (devcode_read(err, options->found->files[i].path, &sink))
			return -1;
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
	if (prime->ptxas)
		return driver->cuda ? compiler_find(err, driver, prime->ptxas, NULL, ret_compiler)
							: take_any(err, prime->ptxas, ret_compiler);
	/* What is newer than the table is tried with the driver's own. */
	if (!gpu_isa_driver(work.isa).cuda && driver->cuda)
		return compiler_find(err, driver, NULL, prime->fetch, ret_compiler);
	if (!gpu_isa_driver(work.isa).cuda)
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"PTX of ISA %u.%u is newer than this jitwarm knows: --ptxas FILE names the "
			"ptxas that compiles it",
			work.isa.major, work.isa.minor);
	least = least_version(&work, driver->cuda);
	most = driver->cuda ? driver->cuda : (least < 13000 ? 12990 : least / 1000 * 1000 + 990);
	return compiler_oldest(err, least, most, prime->fetch, ret_compiler);
}
