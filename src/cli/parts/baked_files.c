#include "cli/parts/baked_files.h"

#include <string.h>

#include "base/mem.h"
#include "cli/documents/documents.h"
#include "cli/parts/found_files.h"
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

static void print_undone(struct cli *cli, const struct jw_baked *baked)
{
	const struct output *out = &cli->out;

	if (baked->failed.code) {
		output_line(out, STYLE_BAD, "not undone: %s", baked->failed.message);
		cli_end_with(cli, EXIT_FAILED);
	} else if (baked->state == JW_BAKED_SOUND || baked->state == JW_BAKED_ORIGINAL) {
		output_line(out, STYLE_GOOD, "%s: the original", baked->path);
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

static int undo_now(struct jw_error *err, struct cli *cli, const struct undo_paths *paths)
{
	const struct jw_unbake_options options = {.size = sizeof options,
											  .paths = paths->paths,
											  .path_count = paths->count,
											  .cancel = cli_cancel};
	struct jw_baked_list *list;
	int failed;

	os_catch_interrupts();
	if (jw_unbake(err, &options, &list))
		return -1;
	if (!list->count)
		output_line(&cli->out, STYLE_PLAIN,
					"nothing to undo: none of these was baked in its place");
	for (size_t i = 0; i < list->count; i++)
		print_undone(cli, &list->items[i]);
	failed = document_print(err, &cli->out, &document_baked, list);
	jw_baked_list_free(list);
	return failed;
}

int baked_files_undo(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	struct undo_paths paths = {0};
	struct found_files files = {0};
	int failed = split_operands(err, options, &paths);

	if (!failed && (paths.name_count || !options->operand_count))
		failed = found_files_find(err, &cli->out, paths.names, paths.name_count, &files) ||
				 add_found(err, &paths, &files);
	failed = failed || undo_now(err, cli, &paths);
	found_files_free(&files);
	mem_free(paths.names);
	mem_free(paths.paths);
	return failed ? -1 : 0;
}
