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

static int list_run(struct jw_error *err, struct cli *cli)
{
	const struct jw_store_options options = {.state_dir = cli_state(err, cli)};
	struct jw_store *store = NULL;
	int failed = !options.state_dir || jw_store_open(err, &options, &store) ||
				 (output_wants_text(&cli->out) && print_store(err, &cli->out, store)) ||
				 document_print(&cli->out, &document_store, store);

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
	.run = list_run,
};
