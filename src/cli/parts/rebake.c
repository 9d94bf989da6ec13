#include "cli/parts/rebake.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/baked_files.h"
#include "cli/parts/prime_bar.h"

/* Whether this machine has all GPUs for which it was baked ("sm_86 sm_90"). */
static bool has_gpus(const struct jw_system *system, const char *targets)
{
	while (*targets) {
		const size_t length = strcspn(targets, " ");
		bool has = false;

		for (size_t i = 0; i < system->gpu_count; i++) {
			char text[JW_TARGET_TEXT];

			(void)jw_target_sm(text, system->gpus[i].target);
			has = has || (strlen(text) == length && !strncmp(text, targets, length));
		}
		if (!has)
			return false;
		targets += length + (targets[length] == ' ');
	}
	return true;
}

static void tell_problem(struct prime_outcome *priming, const char *path, const char *why)
{
	struct unattended *run = &priming->unattended;

	output_warning(&priming->cli->out, "%s: not baked again: %s", path, why);
	if (!*run->problem)
		TEXT_COPY(run->problem, why);
}

static void report_rebaked(struct prime_outcome *priming, const struct jw_bake_result *result)
{
	for (size_t i = 0; i < result->file_count; i++) {
		const struct jw_bake_file *file = &result->files[i];

		if (file->failed.code) {
			tell_problem(priming, file->path, file->failed.message);
			priming->not_rebaked = priming->not_rebaked || file->failed.code != JW_ERR_UNSUPPORTED;
			cli_end_with(priming->cli, EXIT_COLD);
		} else if (file->output) {
			output_line(&priming->cli->out, STYLE_GOOD, "Baked again: %s, %zu of %s", file->path,
						file->baked, TEXT_COUNT(file->modules, "container", "containers"));
			priming->unattended.rebaked++;
		}
	}
}

static int bake_again(struct jw_error *err, struct prime_outcome *priming,
					  const struct jw_found *found)
{
	const struct options *options = &priming->cli->options;
	const struct jw_prime_options how = {
		.size = sizeof how,
		.jobs = (unsigned)options_number(options, "jobs", 0),
		.max_memory_bytes = options_number(options, "max-mem", 0),
		.low_priority = options_given(options, "background"),
		.context = &priming->bar,
		.progress = prime_bar_report,
		.message = prime_bar_message,
	};
	const struct jw_bake_options bake = {.size = sizeof bake,
										 .system = priming->cli->system,
										 .found = found,
										 .prime = &how,
										 .in_place = true,
										 .cancel = cli_cancel};
	struct jw_bake_result *result;
	struct jw_error why;
	const int failed = jw_bake(&why, &bake, &result);

	prime_bar_end(&priming->bar);
	if (!failed) {
		report_rebaked(priming, result);
		jw_bake_result_free(result);
		return 0;
	}
	if (why.code == JW_ERR_MEMORY || why.code == JW_ERR_INTERRUPTED)
		return error_copy(err, &why);
	tell_problem(priming, found->files[0].path, error_text(&why));
	priming->not_rebaked = true;
	cli_end_with(priming->cli, EXIT_COLD);
	return 0;
}

/* Those that are to be baked again, as names; the others are told. */
static size_t choose_replaced(struct prime_outcome *priming, const char **names)
{
	const struct jw_baked_list *list = priming->baked;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct jw_baked *baked = &list->items[i];

		if (baked->failed.code || baked->state != JW_BAKED_REPLACED)
			continue;
		if (has_gpus(priming->cli->system, baked->targets))
			names[count++] = baked->path;
		else
			tell_problem(priming, baked->path, "it was baked for GPUs that are not here");
	}
	return count;
}

int rebake_replaced(struct jw_error *err, struct prime_outcome *priming)
{
	struct jw_baked_list *before = priming->baked;
	const char **names = before ? mem_array(err, before->count, sizeof *names) : NULL;
	struct jw_find_options find = {.size = sizeof find, .names = names, .cancel = cli_cancel};
	struct jw_found *found = NULL;
	int failed = 0;

	if (!before)
		return 0;
	if (!names)
		return -1;
	find.name_count = choose_replaced(priming, names);
	if (find.name_count)
		failed = jw_find(err, &find, &found) || bake_again(err, priming, found);
	if (!failed && priming->unattended.rebaked) {
		jw_baked_list_free(before);
		priming->baked = NULL;
		failed = unattended_look_again(err, priming->cli, &priming->unattended) ||
				 baked_files_find(err, &priming->cli->out, priming->files.paths,
								  priming->files.count, &priming->baked);
	}
	jw_found_free(found);
	mem_free(names);
	return failed ? -1 : 0;
}
