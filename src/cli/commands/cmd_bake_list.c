/* jitwarm bake list: libraries that were baked in their places. */
#include <time.h>

#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/baked_files.h"
#include "cli/table.h"

static void add_baked_row(struct table *table, const struct jw_baked *baked)
{
	const time_t when = (time_t)baked->when_s;
	const struct tm *utc = gmtime(&when);
	char day[16] = "";

	if (utc)
		(void)strftime(day, sizeof day, "%Y-%m-%d", utc);
	table_name(table, STYLE_PLAIN, baked->path);
	table_cell(table, STYLE_PLAIN, "%s", baked->targets);
	table_cell(table, STYLE_PLAIN, "%s", baked->driver);
	table_cell(table, STYLE_PLAIN, "%s", day);
	table_cell(table, baked->state == JW_BAKED_SOUND ? STYLE_GOOD : STYLE_WARN, "%s",
			   baked_state_text(baked->state));
}

static int print_list(struct jw_error *err, struct cli *cli, const struct jw_baked_list *list)
{
	struct table table = {.columns = 5, .titles = {"library", "GPUs", "driver", "baked", "now"}};
	size_t rows = 0;
	int result;

	for (size_t i = 0; i < list->count; i++) {
		const struct jw_baked *baked = &list->items[i];

		if (baked->failed.code) {
			output_warning(&cli->out, "%s", baked->failed.message);
			cli_end_with(cli, EXIT_COLD);
			continue;
		}
		rows++;
		add_baked_row(&table, baked);
		if (baked->state != JW_BAKED_SOUND)
			cli_end_with(cli, EXIT_COLD);
	}
	if (!rows)
		output_line(&cli->out, STYLE_PLAIN, "no library was baked in its place");
	result = rows && output_wants_text(&cli->out) ? table_print(err, &table, &cli->out) : 0;
	table_free(&table);
	return result;
}

static int bake_list_run(struct jw_error *err, struct cli *cli)
{
	struct jw_baked_list *list;
	int failed;

	if (jw_baked_look(err, &list))
		return -1;
	failed = print_list(err, cli, list) || document_print(err, &cli->out, &document_baked, list);
	jw_baked_list_free(list);
	return failed ? -1 : 0;
}

const struct cli_command command_bake_list = {
	.name = "bake list",
	.summary = "List the libraries that were baked in their places",
	.usage = "",
	.description =
		"Lists what “jitwarm bake --in-place” has replaced: the GPUs, the driver whose compiler "
		"made the code, the day, and whether the file is as baked. Each file is read, and its hash "
		"compared. “replaced by its package”: its RECORD has the file's hash, for example after an "
		"upgrade. “jitwarm bake --undo” restores the originals, and forgets what was replaced or "
		"is "
		"gone.\n\nExit status: 1 where one is not as baked.",
	.no_operands = "nothing can be named here",
	.run = bake_list_run,
};
