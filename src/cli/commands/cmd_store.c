/* jitwarm store: the packs of earlier results. */
#include <jitwarm/store.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/output.h"

static const struct json_field pack_fields[] = {
	JSON(struct jw_store_pack, name, "the file in the store"),
	JSON(struct jw_store_pack, targets,
		 "the GPU architectures of the pack's entries: `sm_70 sm_86`"),
	JSON(struct jw_store_pack, drivers, "the drivers of the pack's entries: `550.163.01`"),
	JSON(struct jw_store_pack, entries, "entries in the pack"),
	JSON(struct jw_store_pack, content_bytes,
		 "the size of the distinct modules and cubins, unpacked"),
	JSON_AS("pack_bytes", struct jw_store_pack, bytes, "the size of the pack's file"),
	JSON_NUMBERED("mtime_s", struct jw_store_pack, mtime_ns, document_whole_seconds,
				  "the time of the last change, in seconds since 1970"),
	JSON(struct jw_store_pack, damage, "why the pack cannot be read, in one line",
		 .presence = JSON_IF_SET),
	{0},
};

static const struct json_field store_fields[] = {
	JSON(struct jw_store, path, "the folder of the store"),
	JSON(struct jw_store, bytes, "the size of all packs"),
	JSON_LIST_OF("packs", struct jw_store, packs, count,
				 JSON_TABLE(struct jw_store_pack, pack_fields), "the packs, the oldest first"),
	{0},
};
const struct json_table document_store = {.schema = "jitwarm.store/1", .fields = store_fields};

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

static int store_list_run(struct jw_error *err, struct cli *cli)
{
	const struct jw_store_options options = {.state_dir = cli_state(err, cli),
											 .folder = options_value(&cli->options, "store")};
	const struct config_value *setting = config_find(&cli->config, "store");
	struct jw_store *store = NULL, none = {.path = (char[]){""}};
	int result;

	/* Root does not read another account's store. */
	if (cli->stateless)
		return document_print(&cli->out, &document_store, &none);
	result = !options.state_dir || jw_store_open(err, &options, &store) ||
					 (output_wants_text(&cli->out) && print_store(err, &cli->out, store)) ||
					 document_print(&cli->out, &document_store, store)
				 ? -1
				 : 0;

	if (!result && !options.folder && !cli->uses_store)
		output_note(&cli->out,
					"the store is off (%s is %s): “jitwarm prime” neither fills nor uses the store",
					setting->origin, setting->value);
	for (size_t i = 0; !result && i < store->count; i++) {
		if (!*store->packs[i].damage)
			continue;
		output_warning(&cli->out, "%s", store->packs[i].damage);
		cli->status = EXIT_COLD;
	}
	jw_result_free(store);
	return result;
}

static const struct cli_option list_options[] = {CLI_STORE_FOLDER, {0}};

const struct cli_command command_store_list = {
	.name = "store list",
	.summary = "List the packs in which “jitwarm prime” keeps results",
	.usage = "",
	.description =
		"Lists the packs of the store, which keep what “jitwarm prime” has compiled.\n\nA pack "
		"takes a hundredth of the space that its entries take in the cache. After the driver has "
		"evicted or deleted entries, the next “jitwarm prime” restores the entries that it needs "
		"from the packs instead of compiling again, as far as the cache has space. Packs of former "
		"drivers stay until the store exceeds 2 GiB.\n\nExit status: 1 if a pack is damaged.",
	.examples = "jitwarm store list\njitwarm store list --store /srv/jitwarm\n",
	.options = list_options,
	.no_operands = "store list takes no names",
	.reads = true,
	.run = store_list_run,
};
