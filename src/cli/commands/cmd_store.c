/* jitwarm store: the packs of earlier results. */
#include <stdio.h>
#include <time.h>

#include <jitwarm/store.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/table.h"
#include "os/folders.h"

static int print_store(struct jw_error *err, const struct output *out, const struct jw_store *store)
{
	struct table table = {0};
	char size[TEXT_SHORT];
	int result;

	output_line(out, STYLE_STRONG, "%s: %s, %s", store->path,
				TEXT_COUNT(store->count, "pack", "packs"), text_bytes(size, store->bytes));
	if (!store->count)
		return 0;
	table_column(&table, "pack", TABLE_LEFT);
	table_column(&table, "entries", TABLE_RIGHT);
	table_column(&table, "size", TABLE_RIGHT);
	table_column(&table, "unpacked", TABLE_RIGHT);
	table_column(&table, "GPUs", TABLE_LEFT);
	table_column(&table, "drivers", TABLE_LEFT);
	for (size_t i = 0; i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];

		table_cell(&table, *pack->damage ? STYLE_BAD : STYLE_PLAIN, "%s", pack->name);
		if (pack->split)
			table_cell(&table, STYLE_PLAIN, "%zu, %zu split", pack->entries, pack->split);
		else
			table_cell(&table, STYLE_PLAIN, "%zu", pack->entries);
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, pack->bytes));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, pack->content_bytes));
		table_cell(&table, STYLE_PLAIN, "%s", pack->targets);
		table_cell(&table, *pack->damage ? STYLE_BAD : STYLE_PLAIN, "%s",
				   *pack->damage ? "damaged" : pack->drivers);
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

static enum exit_status show(struct cli *cli, bool verify)
{
	struct jw_store *store = NULL;
	struct jw_store_options options = {.size = sizeof options, .verify = verify};
	struct jw_error err;
	char *state = NULL;
	enum exit_status status = EXIT_DONE;

	if (!os_state_dir(&err, &state))
		options.state_dir = state;
	if (!state || jw_store_open(&err, &options, &store) ||
		(output_wants_text(&cli->out) && print_store(&err, &cli->out, store)) ||
		document_print(&err, &cli->out, &document_store, store))
		status = cli_fail(cli, &err);
	for (size_t i = 0; store && i < store->count && status != EXIT_FAILED; i++) {
		if (!*store->packs[i].damage)
			continue;
		output_warning(&cli->out, "%s", store->packs[i].damage);
		status = EXIT_COLD;
	}
	jw_store_free(store);
	mem_free(state);
	return status;
}

static enum exit_status list_run(struct cli *cli)
{
	return show(cli, false);
}

const struct cli_command command_store_list = {
	.name = "store list",
	.summary = "List the packs of earlier results",
	.usage = "",
	.description =
		"The store, in jitwarm's own folder, keeps in packs what “jitwarm prime” compiled, at a "
		"hundredth of its size in the cache. After the driver has evicted or wiped entries, the "
		"next “jitwarm prime” restores those that it is asked for instead of compiling them again, "
		"as far as the cache has room. Packs of former drivers stay until the store exceeds 2 GiB. "
		"Split entries (“prime --split”) were compiled over several threads: they are not the "
		"driver's own bytes.\n\nExit status: 1 where a pack is damaged.",
	.no_operands = "nothing can be named here",
	.run = list_run,
};

static enum exit_status verify_run(struct cli *cli)
{
	return show(cli, true);
}

const struct cli_command command_store_verify = {
	.name = "store verify",
	.summary = "Check every pack of the store",
	.usage = "",
	.description = "Checks all of every pack of the store, as “jitwarm import” does before it "
				   "writes. Exit status: 1 where one is damaged.",
	.no_operands = "nothing can be named here",
	.run = verify_run,
};

static enum exit_status gc_run(struct cli *cli)
{
	uint64_t most = options_number(&cli->options, "max-size", JW_STORE_DEFAULT_BYTES);
	struct jw_store_swept swept = {0};
	struct jw_error err = {0};
	char *state = NULL, size[TEXT_SHORT];
	enum exit_status status = EXIT_DONE;

	if (os_state_dir(&err, &state) || jw_store_gc(&err, state, most, &swept)) {
		status = cli_fail(cli, &err);
	} else {
		output_line(&cli->out, STYLE_PLAIN, "%s removed, %s",
					TEXT_COUNT(swept.removed, "pack", "packs"),
					text_bytes(size, swept.removed_bytes));
		if (swept.made)
			output_line(&cli->out, STYLE_PLAIN, "%zu small packs became %zu", swept.merged,
						swept.made);
	}
	mem_free(state);
	return status;
}

static const struct cli_option gc_options[] = {
	CLI_SIZE("max-size", "SIZE", "Keep no more than this, instead of 2 GiB"), {0}};

const struct cli_command command_store_gc = {
	.name = "store gc",
	.summary = "Remove the oldest packs of the store, and merge small ones",
	.usage = "[--max-size SIZE]",
	.description =
		"Removes damaged packs, and the oldest ones until the store is within its limit, then "
		"merges small packs for the same GPUs and driver: each run that compiled something leaves "
		"one. “jitwarm prime” does the same after each run, and merges sixteen.",
	.options = gc_options,
	.no_operands = "nothing can be named here; “jitwarm store remove” removes a pack",
	.run = gc_run,
};

static enum exit_status remove_run(struct cli *cli)
{
	struct jw_error err = {0};
	char *state = NULL;
	enum exit_status status = EXIT_DONE;

	if (!cli->options.operand_count)
		return cli_usage(cli, "name a pack of “jitwarm store list”");
	if (os_state_dir(&err, &state))
		status = cli_fail(cli, &err);
	for (size_t i = 0; status == EXIT_DONE && i < cli->options.operand_count; i++)
		if (jw_store_remove(&err, state, cli->options.operands[i]))
			status = cli_fail(cli, &err);
	mem_free(state);
	return status;
}

const struct cli_command command_store_remove = {
	.name = "store remove",
	.summary = "Remove packs from the store",
	.usage = "PACK…",
	.description =
		"Removes packs by the names of “jitwarm store list”. The driver's cache is left alone.",
	.run = remove_run,
};
