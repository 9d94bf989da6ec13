#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/parts/cache_commands.h"
#include "cli/table.h"
#include "os/interrupt.h"

static const char *what_text(const struct jw_cache_entry *entry)
{
	if (entry->damaged)
		return "damaged";
	return entry->kind == JW_CACHE_CUDA ? cached_forms[entry->form] : cached_kinds[entry->kind];
}

static const char *date_text(char text[32], int64_t mtime_ns)
{
	time_t seconds = (time_t)(mtime_ns / 1000000000);
	const struct tm *local = localtime(&seconds);

	if (!local || !strftime(text, 32, "%Y-%m-%d %H:%M", local))
		(void)snprintf(text, 32, "?");
	return text;
}

static int print_cache_list(struct jw_error *err, const struct output *out,
							const struct cache_list_document *list)
{
	struct table table = {
		.columns = 8,
		.titles = {"entry", "what", "GPU", "driver", "source", "result", "written", "options"},
		.align = {[4] = TABLE_RIGHT, [5] = TABLE_RIGHT},
	};
	int result;

	for (size_t i = 0; i < list->count; i++) {
		const struct cache_list_row *row = &list->rows[i];
		const struct jw_cache_entry *entry = &row->entry;
		char arch[JW_TARGET_TEXT] = "", driver[CACHE_DRIVER_TEXT], size[TEXT_SHORT], date[32];

		if (entry->target.sm)
			(void)jw_target_sm(arch, entry->target);
		table_cell(&table, STYLE_PLAIN, "%016llx", (unsigned long long)entry->key);
		table_cell(&table, entry->damaged ? STYLE_BAD : STYLE_PLAIN, "%s%s", what_text(entry),
				   row->carried ? ", carried" : "");
		table_cell(&table, STYLE_PLAIN, "%s", arch);
		table_cell(&table, STYLE_PLAIN, "%s",
				   entry->damaged ? "" : cache_command_driver_text(driver, entry->driver));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, entry->payload_bytes));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, entry->value_bytes));
		table_cell(&table, STYLE_FAINT, "%s", date_text(date, entry->mtime_ns));
		table_name(&table, STYLE_FAINT, entry->options);
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

static int read_rows(struct jw_error *err, const struct jw_cache_listing *list,
					 const struct jw_marks *marks, struct cache_list_document *document)
{
	document->rows = mem_array(err, list->count, sizeof *document->rows);
	for (; document->rows && document->count < list->count; document->count++) {
		const struct jw_cache_entry *entry = &list->entries[document->count];

		document->rows[document->count] = (struct cache_list_row){
			.entry = *entry,
			.carried = jw_marks_has(marks, entry->key),
		};
	}
	return document->rows ? 0 : -1;
}

static int run_cache_list(struct jw_error *err, struct cli *cli)
{
	struct jw_cache_options options = cache_command_options(cli);
	struct cache_list_document document = {0};
	struct jw_cache_listing *list = NULL;
	struct jw_marks *marks = NULL;
	int failed;

	os_catch_interrupts();
	if (jw_cache_list(err, &options, &list))
		return cache_command_fail(err, cli);
	document.path = list->path;
	if (!list->count)
		output_line(&cli->out, STYLE_PLAIN, "%s: empty", list->path);
	failed = jw_marks_open(err, cli_state(NULL, cli), list->path, &marks) ||
			 read_rows(err, list, marks, &document) ||
			 (list->count && output_wants_text(&cli->out) &&
			  print_cache_list(err, &cli->out, &document)) ||
			 document_print(err, &cli->out, &document_cache_list, &document);
	mem_free(document.rows);
	jw_marks_close(marks);
	jw_cache_list_free(list);
	return failed;
}

static const struct cli_option list_options[] = {CLI_CACHE, {0}};

const struct cli_command command_cache_list = {
	.name = "cache list",
	.summary = "List the entries of the driver's cache",
	.usage = "[--cache DIR]",
	.description =
		"Lists the entries of the driver's JIT cache in the order of eviction; entries that the "
		"index does not count come last. What: “load” is a module, “link” an input of run-time "
		"linking, “nvjitlink” made by that library, “opencl” the PTX of an OpenCL program; "
		"“carried”: by an older driver's compiler. Values are not hashed; “jitwarm cache verify” "
		"does that.",
	.options = list_options,
	.no_operands = "a directory is named with --cache DIR",
	.run = run_cache_list,
};
