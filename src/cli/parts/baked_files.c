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

/* `paths` NULL: of all. */
static int undo_now(struct jw_error *err, struct cli *cli, const char *const *paths, size_t count)
{
	const struct jw_unbake_options options = {
		.size = sizeof options, .paths = paths, .path_count = count, .cancel = cli_cancel};
	struct jw_baked_list *undone;
	int failed;

	os_catch_interrupts();
	if (jw_unbake(err, &options, &undone))
		return -1;
	if (!undone->count)
		output_line(&cli->out, STYLE_PLAIN, "nothing to undo: %s",
					paths ? "none of these was baked in its place"
						  : "no library was baked in its place");
	for (size_t i = 0; i < undone->count; i++)
		print_undone(cli, &undone->items[i]);
	failed = document_print(err, &cli->out, &document_baked, undone);
	jw_baked_list_free(undone);
	return failed;
}

/* Those that are gone are paths already; the others are looked for. */
int baked_files_undo(struct jw_error *err, struct cli *cli)
{
	const char *const *operands = cli->options.operands;
	const size_t operand_count = cli->options.operand_count;
	const char **names, **paths = NULL;
	size_t name_count = 0, count = 0;
	struct found_files files = {0};
	int failed = -1;

	if (!operand_count)
		return undo_now(err, cli, NULL, 0);
	names = mem_array(err, operand_count, sizeof *names);
	for (size_t i = 0; names && i < operand_count; i++)
		if (!is_gone_path(operands[i]))
			names[name_count++] = operands[i];
	if (names &&
		(!name_count || !found_files_find(err, &cli->out, names, name_count, false, &files)))
		paths = mem_array(err, operand_count + files.count, sizeof *paths);
	if (paths) {
		for (size_t i = 0; i < operand_count; i++)
			if (is_gone_path(operands[i]))
				paths[count++] = operands[i];
		for (size_t i = 0; i < files.count; i++)
			paths[count++] = files.paths[i];
		failed = undo_now(err, cli, paths, count);
	}
	found_files_free(&files);
	mem_free(paths);
	mem_free(names);
	return failed ? -1 : 0;
}
