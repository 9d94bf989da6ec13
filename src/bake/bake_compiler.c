#include "bake/bake_compiler.h"

#include <jitwarm/system.h>

#include "compile/compiler_oldest.h"
#include "devcode/devcode.h"
#include "gpu/release.h"
#include "gpu/rules.h"

struct newest_ptx {
	struct gpu_isa isa;
};

static int note_ptx_isa(struct jw_error *err, void *context,
						const struct devcode_container *container)
{
	struct newest_ptx *newest = context;

	(void)err;
	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		const struct gpu_isa isa = {entry->isa_major, entry->isa_minor};

		if (devcode_kind_is_ptx(entry->kind) && gpu_isa_compare(isa, newest->isa) > 0)
			newest->isa = isa;
	}
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

static int find_newest_ptx(struct jw_error *err, const struct jw_bake_options *options,
						   struct newest_ptx *newest)
{
	const struct devcode_sink sink = {.context = newest,
									  .container = note_ptx_isa,
									  .trouble = ignore_trouble,
									  .cancel = options->cancel};

	for (size_t i = 0; i < options->found->file_count; i++)
		if (devcode_read(err, options->found->files[i].path, &sink))
			return -1;
	return 0;
}

int bake_compiler_choose(struct jw_error *err, const struct jw_bake_options *options,
						 char **ret_path)
{
	const struct jw_system *system = options->system;
	struct newest_ptx newest = {{0, 0}};
	uint32_t least;

	*ret_path = NULL;
	if (!system->elsewhere)
		return 0;
	if (find_newest_ptx(err, options, &newest))
		return -1;
	least = gpu_isa_driver(newest.isa).cuda;
	/* What is newer than the table is tried with the driver's own. */
	if (newest.isa.major && !least)
		return 0;
	for (size_t i = 0; i < system->gpu_count; i++) {
		const uint32_t cuda =
			gpu_first_cuda(gpu_jit_target(system->gpus[i].target, system->driver.version.cuda));

		least = cuda > least ? cuda : least;
	}
	*ret_path = compiler_oldest(least, system->driver.version.cuda);
	return 0;
}
