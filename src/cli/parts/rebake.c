#include "cli/parts/rebake.h"

#include <string.h>

#include <jitwarm/find.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/parts/baked_files.h"
#include "cli/parts/gpu_targets.h"
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

/* Bakes `found` as `like` was baked. */
static int bake_again(struct jw_error *err, struct prime_outcome *priming,
					  const struct jw_found *found, const struct jw_baked *like)
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
	struct jw_target kept[GPUS_MOST];
	struct jw_bake_options bake = {.size = sizeof bake,
								   .system = priming->cli->system,
								   .found = found,
								   .prime = &how,
								   .drop_ptx = like->drop_ptx,
								   .any_owner = like->any_owner,
								   .kept = kept,
								   .in_place = true,
								   .cancel = cli_cancel};
	struct jw_bake_result *result;
	struct jw_error why;
	const int failed = (*like->kept && jw_targets_read(&why, like->kept, NULL, kept, GPUS_MOST,
													   &bake.kept_count)) ||
					   jw_bake(&why, &bake, &result);

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

/* What is to be baked again: its path now; NULL: it stays as it is, which is told where that is no
 * matter of course. */
static const char *path_to_rebake(struct prime_outcome *priming, const struct jw_baked *baked)
{
	const char *path = baked->state == JW_BAKED_REPLACED ? baked->path : baked->successor;

	if (baked->failed.code || !path)
		return NULL;
	if (baked->successors > 1)
		tell_problem(priming, path,
					 "it is one of several, and it is not known which of them took the place of "
					 "the library that was baked");
	else if (!has_gpus(priming->cli->system, baked->targets))
		tell_problem(priming, path, "it was baked for GPUs that are not here");
	else
		return path;
	return NULL;
}

static bool is_baked_alike(const struct jw_baked *a, const struct jw_baked *b)
{
	return a->drop_ptx == b->drop_ptx && a->any_owner == b->any_owner && !strcmp(a->kept, b->kept);
}

/* All of them that were baked like the one at `first`; none of these is in `paths` afterwards. */
static int rebake_alike(struct jw_error *err, struct prime_outcome *priming, const char **paths,
						size_t first)
{
	const struct jw_baked_list *list = priming->baked;
	const char **names = mem_array(err, list->count, sizeof *names);
	struct jw_find_options find = {.size = sizeof find, .names = names, .cancel = cli_cancel};
	struct jw_found *found = NULL;
	int failed;

	if (!names)
		return -1;
	for (size_t i = first; i < list->count; i++)
		if (paths[i] && is_baked_alike(&list->items[first], &list->items[i])) {
			names[find.name_count++] = paths[i];
			paths[i] = NULL;
		}
	failed = jw_find(err, &find, &found) || bake_again(err, priming, found, &list->items[first]);
	jw_found_free(found);
	mem_free(names);
	return failed ? -1 : 0;
}

/* Journals of libraries that are gone, and whose successors were baked. */
static int forget_succeeded(struct jw_error *err, const struct jw_baked_list *before,
							const struct jw_baked_list *now)
{
	for (size_t i = 0; i < before->count; i++) {
		const char *successor = before->items[i].successor;
		const struct jw_unbake_options gone = {.size = sizeof gone,
											   .paths = (const char *const *)&before->items[i].path,
											   .path_count = 1,
											   .cancel = cli_cancel};
		struct jw_baked_list *forgotten;
		bool baked = false;

		for (size_t k = 0; successor && now && k < now->count; k++)
			baked = baked || (!now->items[k].failed.code && !strcmp(now->items[k].path, successor));
		if (!baked)
			continue;
		if (jw_unbake(err, &gone, &forgotten))
			return -1;
		jw_baked_list_free(forgotten);
	}
	return 0;
}

static int look_again_at_baked(struct jw_error *err, struct prime_outcome *priming)
{
	struct jw_baked_list *before = priming->baked;
	int failed;

	priming->baked = NULL;
	failed = unattended_look_again(err, priming->cli, &priming->unattended) ||
			 baked_files_find(err, &priming->cli->out, priming->files.paths, priming->files.count,
							  &priming->baked) ||
			 forget_succeeded(err, before, priming->baked);
	jw_baked_list_free(before);
	return failed ? -1 : 0;
}

int rebake_replaced(struct jw_error *err, struct prime_outcome *priming)
{
	const struct jw_baked_list *list = priming->baked;
	const char **paths = list ? mem_array(err, list->count, sizeof *paths) : NULL;
	int failed = 0;

	if (!list)
		return 0;
	if (!paths)
		return -1;
	for (size_t i = 0; i < list->count; i++)
		paths[i] = path_to_rebake(priming, &list->items[i]);
	for (size_t i = 0; !failed && i < list->count; i++)
		if (paths[i])
			failed = rebake_alike(err, priming, paths, i);
	if (!failed && priming->unattended.rebaked)
		failed = look_again_at_baked(err, priming);
	mem_free(paths);
	return failed ? -1 : 0;
}
