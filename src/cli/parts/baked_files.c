#include "cli/parts/baked_files.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/parts/module_text.h"
#include "os/file.h"
#include "os/interrupt.h"

const char *baked_state_text(enum jw_baked_state state)
{
	static const char *const texts[] = {
		[JW_BAKED_SOUND] = "as baked",
		[JW_BAKED_ORIGINAL] = "the original again",
		[JW_BAKED_REPLACED] = "replaced by its package",
		[JW_BAKED_CHANGED] = "changed since",
		[JW_BAKED_GONE] = "gone",
	};

	return texts[state];
}

/* ---- what was baked, for other commands */

static bool is_sound_for(const struct jw_baked *baked, const char *targets)
{
	return !baked->failed.code && baked->state == JW_BAKED_SOUND &&
		   !strcmp(baked->targets, targets);
}

/* A line for all that were baked for the same GPUs, with the first of them. */
static void tell_sound(const struct output *out, const char *head, const struct jw_baked_list *list,
					   size_t at)
{
	const char *targets = list->items[at].targets;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (i < at && is_sound_for(&list->items[i], targets))
			return;
		count += is_sound_for(&list->items[i], targets);
	}
	output_line(out, STYLE_PLAIN, "%s%s with baked machine code for %s (“jitwarm bake list”)", head,
				TEXT_COUNT(count, "library", "libraries"), targets);
}

void baked_files_print(const struct output *out, const char *head, const struct jw_baked_list *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		const struct jw_baked *baked = &list->items[i];

		if (baked->failed.code)
			output_warning(out, "%s", baked->failed.message);
		else if (baked->state == JW_BAKED_SOUND)
			tell_sound(out, head, list, i);
		else if (baked->state == JW_BAKED_REPLACED)
			output_line(out, STYLE_WARN,
						"%s%s was baked for %s, and its package has replaced it: “jitwarm bake "
						"--in-place” bakes it again",
						head, baked->path, baked->targets);
		else
			output_line(out, STYLE_WARN, "%s%s was baked for %s: %s", head, baked->path,
						baked->targets, baked_state_text(baked->state));
	}
}

int baked_files_find(struct jw_error *err, const struct output *out, const char *const *paths,
					 size_t path_count, struct jw_baked_list **ret_list)
{
	struct jw_error why;

	if (!jw_baked_find(&why, paths, path_count, ret_list))
		return 0;
	if (why.code == JW_ERR_MEMORY)
		return error_copy(err, &why);
	/* An account without a home has baked nothing. */
	if (why.code != JW_ERR_NOT_FOUND)
		output_warning(out, "%s", error_text(&why));
	return 0;
}

/* ---- undo */

static void print_undone(struct cli *cli, const struct jw_baked *baked)
{
	const struct output *out = &cli->out;

	if (baked->failed.code) {
		output_line(out, STYLE_BAD, "not undone: %s", baked->failed.message);
		cli_end_with(cli, EXIT_FAILED);
	} else if (baked->state == JW_BAKED_SOUND || baked->state == JW_BAKED_ORIGINAL) {
		output_line(out, STYLE_GOOD, "%s: the original", baked->path);
	} else if (!baked->undone) {
		output_line(out, STYLE_WARN,
					"%s: gone: its journal stays, since a disk may be away; name the library to "
					"have it dropped",
					baked->path);
		cli_end_with(cli, EXIT_COLD);
	} else {
		output_line(out, STYLE_PLAIN, "%s: %s: its journal was dropped", baked->path,
					baked_state_text(baked->state));
	}
}

/* What is gone has a journal all the same. */
static bool is_gone_path(const char *operand)
{
	return os_base_name(operand) != operand && !os_exists(operand);
}

struct undo_paths {
	const char **paths, **names; /* of libraries; to be looked for */
	size_t count, name_count;
};

/* Those that are gone are paths already; the others are looked for. */
static int split_operands(struct jw_error *err, const struct options *options,
						  struct undo_paths *paths)
{
	paths->names = mem_array(err, options->operand_count, sizeof *paths->names);
	paths->paths = mem_array(err, options->operand_count, sizeof *paths->paths);
	if (!paths->names || !paths->paths)
		return -1;
	for (size_t i = 0; i < options->operand_count; i++) {
		if (is_gone_path(options->operands[i]))
			paths->paths[paths->count++] = options->operands[i];
		else
			paths->names[paths->name_count++] = options->operands[i];
	}
	return 0;
}

static int add_found(struct jw_error *err, struct undo_paths *paths,
					 const struct found_files *files)
{
	const char **all = mem_array(err, paths->count + files->count, sizeof *all);

	if (!all)
		return -1;
	if (paths->count)
		memcpy(all, paths->paths, paths->count * sizeof *all);
	if (files->count)
		memcpy(all + paths->count, files->paths, files->count * sizeof *all);
	mem_free(paths->paths);
	paths->paths = all;
	paths->count += files->count;
	return 0;
}

/* A journal is the only way back for a library that is away: only who names the library drops it */
static bool is_left(const struct jw_baked *baked)
{
	return baked->failed.code || baked->state == JW_BAKED_GONE;
}

/* With the journals that cannot be read, and those that stay. */
static int print_all_undone(struct jw_error *err, struct cli *cli,
							const struct jw_baked_list *undone, const struct jw_baked_list *looked)
{
	struct jw_baked_list all = {.size = sizeof all};
	int failed;

	all.items = mem_array(err, undone->count + looked->count, sizeof *all.items);
	if (!all.items)
		return -1;
	for (size_t i = 0; i < undone->count; i++)
		all.items[all.count++] = undone->items[i];
	for (size_t i = 0; i < looked->count; i++)
		if (is_left(&looked->items[i]))
			all.items[all.count++] = looked->items[i];
	if (!all.count)
		output_line(&cli->out, STYLE_PLAIN, "nothing to undo: %s",
					cli->options.operand_count ? "none of these was baked in its place"
											   : "no library was baked in its place");
	for (size_t i = 0; i < all.count; i++)
		print_undone(cli, &all.items[i]);
	failed = document_print(err, &cli->out, &document_baked, &all);
	mem_free(all.items);
	return failed;
}

static int undo_now(struct jw_error *err, struct cli *cli, const struct undo_paths *paths,
					const struct jw_baked_list *looked)
{
	const struct jw_unbake_options options = {.size = sizeof options,
											  .paths = paths->paths,
											  .path_count = paths->count,
											  .cancel = cli_cancel};
	struct jw_baked_list *undone;
	int failed;

	os_catch_interrupts();
	if (jw_unbake(err, &options, &undone))
		return -1;
	failed = print_all_undone(err, cli, undone, looked);
	jw_baked_list_free(undone);
	return failed;
}

static int undo_named(struct jw_error *err, struct cli *cli)
{
	static const struct jw_baked_list none;
	struct undo_paths paths = {0};
	struct found_files files = {0};
	int failed = split_operands(err, &cli->options, &paths);

	if (!failed && paths.name_count)
		failed = found_files_find(err, &cli->out, paths.names, paths.name_count, false, &files) ||
				 add_found(err, &paths, &files);
	failed = failed || undo_now(err, cli, &paths, &none);
	found_files_free(&files);
	mem_free(paths.names);
	mem_free(paths.paths);
	return failed ? -1 : 0;
}

/* What “bake list” shows, except for what is gone. */
static int undo_all(struct jw_error *err, struct cli *cli)
{
	struct undo_paths paths = {0};
	struct jw_baked_list *looked;
	int failed;

	if (jw_baked_look(err, &looked))
		return -1;
	paths.paths = mem_array(err, looked->count, sizeof *paths.paths);
	for (size_t i = 0; paths.paths && i < looked->count; i++)
		if (!is_left(&looked->items[i]))
			paths.paths[paths.count++] = looked->items[i].path;
	failed = !paths.paths || undo_now(err, cli, &paths, looked);
	mem_free(paths.paths);
	jw_baked_list_free(looked);
	return failed ? -1 : 0;
}

int baked_files_undo(struct jw_error *err, struct cli *cli)
{
	return cli->options.operand_count ? undo_named(err, cli) : undo_all(err, cli);
}
