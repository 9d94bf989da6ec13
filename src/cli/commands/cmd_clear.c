/* jitwarm cache clear, store clear: remove everything, after a question. */
#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/store.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/language.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "os/console.h"
#include "os/interrupt.h"

struct clear_document {
	const char *path;
	bool dry_run;
	size_t removed, left;
	uint64_t removed_bytes;
};

static const struct json_field clear_fields[] = {
	JSON(struct clear_document, path, "the cache directory"),
	JSON(struct clear_document, dry_run, "nothing was removed: `removed` is what would be"),
	JSON(struct clear_document, removed, "entries of the cache, or packs of the store"),
	JSON(struct clear_document, removed_bytes, "the size of the removed files"),
	JSON(struct clear_document, left,
		 "entries that stay: they are no files, or were rewritten meanwhile"),
	{0},
};
const struct json_table document_cache_clear = {
	.schema = "jitwarm.cache-clear/1",
	.fields = clear_fields,
};
const struct json_table document_store_clear = {
	.schema = "jitwarm.store-clear/1",
	.fields = clear_fields,
};

/* Asks whether to remove something that cannot be restored: --yes, or “y” at the terminal. `what`
 * is "14 entries". */
static int ask_first(struct jw_error *err, struct cli *cli, const char *what, uint64_t bytes,
					 const char *path, bool *ret_yes)
{
	struct buf question = BUF_MAX(1 << 16), shown = BUF_MAX(1 << 18);
	char size[TEXT_SHORT], answer[64] = "", *translated;
	size_t got = 0;
	int result = 0;

	*ret_yes = options_given(&cli->options, "yes");
	if (*ret_yes)
		return 0;
	if (!os_is_terminal(0) || !os_is_terminal(2)) {
		cli->failure = EXIT_CANNOT;
		return error_set(
			err, JW_ERR_USAGE,
			"there is no terminal to ask on: “jitwarm %s --yes” removes %s without asking",
			cli->command->name, what);
	}
	buf_add(&question, "Remove %s (%s) from %s? [y/N] ", what, text_bytes(size, bytes), path);
	translated = language_line(buf_text(&question));
	terminal_append(&shown, translated ? translated : buf_text(&question));
	output_put(2, buf_text(&shown));
	result = os_fd_read_some(err, 0, answer, sizeof answer - 1, &got);
	if (!strchr(answer, '\n'))
		output_put(2, "\n");
	*ret_yes = !result && (*answer == 'y' || *answer == 'Y');
	if (!*ret_yes)
		cli_end_with(cli, EXIT_COLD);
	mem_free(translated);
	buf_free(&shown);
	buf_free(&question);
	return result;
}

static int print_cleared(struct cli *cli, const struct json_table *document,
						 const struct clear_document *cleared, const char *what)
{
	char size[TEXT_SHORT];

	output_line(&cli->out, cleared->dry_run || !cleared->removed ? STYLE_PLAIN : STYLE_GOOD,
				cleared->dry_run   ? "%s: %s (%s) would be removed"
				: cleared->removed ? "%s: %s (%s) removed"
								   : "%s: nothing was removed",
				cleared->path, what, text_bytes(size, cleared->removed_bytes));
	return document_print(&cli->out, document, cleared);
}

static int cache_clear_run(struct jw_error *err, struct cli *cli)
{
	struct jw_cache_options options = {.path = options_value(&cli->options, "cache"),
									   .cancel = cli_cancel};
	struct clear_document cleared = {.dry_run = options_given(&cli->options, "dry-run")};
	struct jw_cache_cleared *found = NULL, *done = NULL;
	bool yes = false;
	int result = -1;

	if (cli_open_asleep(err, cli, options_value(&cli->options, "cache"), JW_ASK_NEVER))
		return -1;
	options.limit_bytes = cli->system->cache.limit_bytes;
	options.driver = &cli->system->driver;
	if (jw_cache_clear(err, &options, true, &found))
		return cli_fail_of_cache(err, cli);
	if (found->removed && !cleared.dry_run &&
		ask_first(err, cli, TEXT_COUNT(found->removed, "entry", "entries"), found->removed_bytes,
				  found->path, &yes))
		goto done;
	os_catch_interrupts();
	if (yes && jw_cache_clear(err, &options, false, &done))
		goto done;
	cleared.path = found->path;
	cleared.removed = done ? done->removed : cleared.dry_run ? found->removed : 0;
	cleared.removed_bytes = done ? done->removed_bytes : cleared.dry_run ? found->removed_bytes : 0;
	cleared.left = done ? done->stayed : found->stayed;
	result = print_cleared(cli, &document_cache_clear, &cleared,
						   TEXT_COUNT(cleared.removed, "entry", "entries"));
	if (cleared.left) {
		output_warning(&cli->out, "%s stayed: not files, or rewritten in the meantime",
					   TEXT_COUNT(cleared.left, "entry", "entries"));
		cli_end_with(cli, EXIT_COLD);
	}
done:
	jw_result_free(done);
	jw_result_free(found);
	return result;
}

#define CLEAR_OPTIONS                                                                              \
	CLI_FLAG("dry-run", "Only report what would be removed", .letter = 'n'),                       \
		CLI_FLAG("yes", "Remove everything without asking", .letter = 'y')

static const struct cli_option cache_options[] = {CLEAR_OPTIONS, CLI_CACHE, {0}};

const struct cli_command command_cache_clear = {
	.name = "cache clear",
	.summary = "Remove every entry of the driver's cache",
	.usage = "[OPTION]…",
	.description =
		"Removes every entry of the driver's cache, so that the driver compiles the modules again "
		"that programs need.\n\nRunning programs are not disturbed: the command takes the driver's "
		"own lock. Foreign files stay. “jitwarm prime” restores the modules that the store has; "
		"“jitwarm store clear” empties the store, too.\n\nAt a terminal, jitwarm asks first; "
		"elsewhere, --yes is required.\n\nExit status: 1 if an entry stayed or the answer was no, "
		"2 if there is neither a terminal nor --yes, or if the driver does not cache at all, 3 on "
		"failure.",
	.examples = "jitwarm cache clear -n\njitwarm cache clear --yes\n",
	.options = cache_options,
	.no_operands = "name a directory with --cache DIR",
	.run = cache_clear_run,
};

static int store_clear_run(struct jw_error *err, struct cli *cli)
{
	const struct jw_store_options options = {.state_dir = cli_state(err, cli),
											 .folder = options_value(&cli->options, "store")};
	const bool superseded = options_given(&cli->options, "superseded");
	struct clear_document cleared = {.dry_run = options_given(&cli->options, "dry-run")};
	struct jw_store_cleared found = {0}, done = {0};
	struct jw_store *store = NULL;
	bool yes = false;
	int result = -1;

	if (!options.state_dir || jw_store_open(err, &options, &store))
		return -1;
	if (jw_store_clear(err, &options, superseded, true, &found) ||
		(found.removed && !cleared.dry_run &&
		 ask_first(err, cli, TEXT_COUNT(found.removed, "pack", "packs"), found.removed_bytes,
				   store->path, &yes)) ||
		(yes && jw_store_clear(err, &options, superseded, false, &done)))
		goto done;
	if (cleared.dry_run)
		done = found;
	cleared.path = store->path;
	cleared.removed = done.removed;
	cleared.removed_bytes = done.removed_bytes;
	result = print_cleared(cli, &document_store_clear, &cleared,
						   TEXT_COUNT(cleared.removed, "pack", "packs"));
done:
	jw_result_free(store);
	return result;
}

static const struct cli_option store_options[] = {
	CLEAR_OPTIONS,
	CLI_STORE_FOLDER,
	CLI_FLAG("superseded",
			 "Remove only packs whose entries other packs contain; a signed pack stays unless "
			 "packs with a trusted signature contain its entries"),
	{0}};

const struct cli_command command_store_clear = {
	.name = "store clear",
	.summary = "Remove the packs in which “jitwarm prime” keeps results",
	.usage = "[OPTION]…",
	.description =
		"Removes the packs of the store (“jitwarm store list”); the driver's cache stays.\n\nAt "
		"a terminal, jitwarm asks first; elsewhere, --yes is required.\n\nExit status: 1 if the "
		"answer was no, "
		"2 without a terminal and --yes, 3 on failure.",
	.examples = "jitwarm store clear -n\njitwarm store clear --store /srv/jitwarm --superseded\n",
	.options = store_options,
	.no_operands = "store clear takes no names",
	.run = store_clear_run,
};
