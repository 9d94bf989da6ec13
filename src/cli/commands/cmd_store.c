/* jitwarm store: the packs of earlier results. */
#include <jitwarm/store.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/output.h"

static int print_store(struct jw_error *err, const struct output *out, const struct jw_store *store)
{
	struct table table = {
		.columns = 6,
		.titles = {"pack", "entries", "size", "unpacked", "GPUs", "drivers"},
		.align = {[1] = TABLE_RIGHT, TABLE_RIGHT, TABLE_RIGHT},
	};
	char size[TEXT_SHORT];
	int result;

	output_line(out, STYLE_STRONG, "%s: %s, %s", store->path,
				TEXT_COUNT(store->count, "pack", "packs"), text_bytes(size, store->bytes));
	if (!store->count)
		return 0;
	for (size_t i = 0; i < store->count; i++) {
		const struct jw_store_pack *pack = &store->packs[i];

		table_name(&table, *pack->damage ? STYLE_BAD : STYLE_PLAIN, pack->name);
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

extern const struct cli_command command_store_verify;

/* “store list”, “store verify” */
static int show_run(struct jw_error *err, struct cli *cli)
{
	const struct jw_store_options options = {.size = sizeof options,
											 .state_dir = cli_state(err, cli),
											 .verify = cli->command == &command_store_verify};
	struct jw_store *store = NULL;
	int failed = !options.state_dir || jw_store_open(err, &options, &store) ||
				 (output_wants_text(&cli->out) && print_store(err, &cli->out, store)) ||
				 document_print(err, &cli->out, &document_store, store);

	for (size_t i = 0; !failed && i < store->count; i++) {
		if (!*store->packs[i].damage)
			continue;
		output_warning(&cli->out, "%s", store->packs[i].damage);
		cli->status = EXIT_COLD;
	}
	jw_store_free(store);
	return failed;
}

const struct cli_command command_store_list = {
	.name = "store list",
	.summary = "List the packs of earlier results",
	.usage = "",
	.description =
		"The store, in jitwarm's own folder, keeps in packs what “jitwarm prime” compiled, at a "
		"hundredth of its size in the cache. After the driver has evicted or wiped entries, the "
		"next “jitwarm prime” restores those that it is asked for instead of compiling them again, "
		"as far as the cache has room. Packs of former drivers stay until the store exceeds 2 "
		"GiB.\n\nExit status: 1 if a pack is damaged.",
	.no_operands = "nothing can be named here",
	.run = show_run,
};

const struct cli_command command_store_verify = {
	.name = "store verify",
	.summary = "Check every pack of the store",
	.usage = "",
	.description = "Checks every pack of the store in full, as “jitwarm import” does before it "
				   "writes. Exit status: 1 if one is damaged.",
	.no_operands = "nothing can be named here",
	.run = show_run,
};

static int gc_run(struct jw_error *err, struct cli *cli)
{
	const uint64_t most = options_number(&cli->options, "max-size", JW_STORE_DEFAULT_BYTES);
	const char *state = cli_state(err, cli);
	struct jw_store_swept swept;
	char size[TEXT_SHORT];

	if (!state || jw_store_gc(err, state, most, &swept))
		return -1;
	output_line(&cli->out, STYLE_PLAIN, "%s removed, %s",
				TEXT_COUNT(swept.removed, "pack", "packs"), text_bytes(size, swept.removed_bytes));
	return 0;
}

static const struct cli_option gc_options[] = {
	CLI_SIZE("max-size", "SIZE", "Keep no more than this, instead of 2 GiB"), {0}};

const struct cli_command command_store_gc = {
	.name = "store gc",
	.summary = "Remove the oldest packs of the store",
	.usage = "[--max-size SIZE]",
	.description =
		"Removes damaged packs, and the oldest ones until the store is within its limit and has at "
		"most 256 packs. “jitwarm prime” does the same after each run.",
	.options = gc_options,
	.no_operands = "nothing can be named here; “jitwarm store remove” removes a pack",
	.run = gc_run,
};

static int remove_run(struct jw_error *err, struct cli *cli)
{
	const char *state = cli_state(err, cli);

	if (!cli->options.operand_count)
		return error_set(err, JW_ERR_USAGE, "name a pack of “jitwarm store list”");
	for (size_t i = 0; state && i < cli->options.operand_count; i++)
		if (jw_store_remove(err, state, cli->options.operands[i]))
			return -1;
	return state ? 0 : -1;
}

const struct cli_command command_store_remove = {
	.name = "store remove",
	.summary = "Remove packs from the store",
	.usage = "PACK…",
	.description =
		"Removes packs by the names of “jitwarm store list”. The driver's cache is left alone.",
	.run = remove_run,
};
