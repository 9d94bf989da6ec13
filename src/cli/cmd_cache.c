/* jitwarm cache list, jitwarm cache verify */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jitwarm/cache.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/table.h"
#include "os/interrupt.h"

enum { MOST_SHOWN = 20 };

static const struct cli_option cache_options[] = {
	{.name = "cache",
	 .kind = OPTION_VALUE,
	 .value = "DIR",
	 .help = "Look at this directory instead of the one that the driver uses"},
	{0}};

static bool stop(void *context)
{
	(void)context;
	return os_interrupted();
}

static struct jw_cache_options library_options(const struct cli *cli)
{
	return (struct jw_cache_options){.path = options_value(&cli->options, "cache"), .stop = stop};
}

/* Where the driver does not cache at all there is nothing that jitwarm could help with. */
static enum exit_status cache_fail(struct cli *cli, const struct jw_error *err)
{
	if (err->code == JW_ERR_UNSUPPORTED && !options_value(&cli->options, "cache"))
		return cli_fail_as(cli, EXIT_CANNOT, err);
	return cli_fail(cli, err);
}

static enum exit_status check_operands(struct cli *cli)
{
	struct jw_error err = {0};

	if (!cli->options.operand_count)
		return EXIT_DONE;
	(void)error_set(&err, JW_ERR_USAGE, "“%.100s”: a directory is named with --cache DIR",
					cli->options.operands[0]);
	return cli_fail(cli, &err);
}

static const char *const kind_names[] = {"cuda", "opencl", "other"};

/* "Apr  8 202512:10:18" as people write it, with the release where it is known. */
static const char *driver_text(char text[64], const char *driver)
{
	const char *release = jw_cache_driver_of_stamp(driver);

	if (release)
		(void)snprintf(text, 64, "%s", release);
	else if (strlen(driver) == 19)
		(void)snprintf(text, 64, "built %.11s %s", driver, driver + 11);
	else if (*driver)
		(void)snprintf(text, 64, "%s (OpenCL)", driver);
	else
		(void)snprintf(text, 64, "unknown");
	return text;
}

/* ---- verify */

static bool add_groups(cJSON *document, const char *name, const struct jw_cache_group *groups,
					   size_t count)
{
	cJSON *object = cJSON_AddObjectToObject(document, name);

	for (size_t i = 0; object && i < count; i++)
		if (!cJSON_AddNumberToObject(object, *groups[i].name ? groups[i].name : "unknown",
									 (double)groups[i].entries))
			return false;
	return object != NULL;
}

static bool add_kinds(cJSON *document, const size_t kinds[3])
{
	cJSON *object = cJSON_AddObjectToObject(document, "kinds");

	for (size_t i = 0; object && i < 3; i++)
		if (!cJSON_AddNumberToObject(object, kind_names[i], (double)kinds[i]))
			return false;
	return object != NULL;
}

static bool add_index(cJSON *document, const struct jw_cache_report *report)
{
	cJSON *index = cJSON_AddObjectToObject(document, "index");

	return index && cJSON_AddStringToObject(index, "state", report->index) &&
		   cJSON_AddNumberToObject(index, "total_bytes", (double)report->index_bytes) &&
		   cJSON_AddNumberToObject(index, "rows_bytes", (double)report->rows_bytes) &&
		   cJSON_AddNumberToObject(index, "rows_repeated", (double)report->rows_repeated) &&
		   cJSON_AddStringToObject(document, "next_insert", report->next_insert);
}

static bool add_damaged(cJSON *document, const struct jw_cache_report *report)
{
	cJSON *array = cJSON_AddArrayToObject(document, "damaged_entries");

	for (size_t i = 0; array && i < report->damaged; i++) {
		cJSON *one = cJSON_CreateObject();

		if (!cJSON_AddItemToArray(array, one) ||
			!cJSON_AddStringToObject(one, "file", report->damaged_entries[i].name) ||
			!cJSON_AddStringToObject(one, "reason", report->damaged_entries[i].reason))
			return false;
	}
	return array != NULL;
}

static cJSON *verify_document(const struct jw_cache_report *report,
							  const struct jw_cache_repaired *repaired)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{"entries", (double)report->entries},
		{"sound", (double)report->sound},
		{"damaged", (double)report->damaged},
		{"bytes", (double)report->bytes},
		{"rows", (double)report->rows},
		{"rows_without_file", (double)report->rows_without_file},
		{"files_without_row", (double)report->files_without_row},
		{"foreign", (double)report->foreign},
		{"repaired_entries", (double)repaired->removed},
		{"repaired_rows", (double)(repaired->counted + repaired->dropped)},
		{"repaired_hold_seconds", (double)repaired->longest_hold_ns / 1e9},
	};
	cJSON *document = output_document("cache-verify");
	bool complete = document && cJSON_AddStringToObject(document, "path", report->path) != NULL;

	for (size_t i = 0; complete && i < sizeof numbers / sizeof *numbers; i++)
		complete = cJSON_AddNumberToObject(document, numbers[i].name, numbers[i].value);
	if (complete && add_groups(document, "by_arch", report->by_arch, report->arch_count) &&
		add_groups(document, "by_driver", report->by_driver, report->driver_count) &&
		add_kinds(document, report->kinds) && add_index(document, report) &&
		add_damaged(document, report))
		return document;
	cJSON_Delete(document);
	return NULL;
}

static void print_groups(const struct output *out, const char *title,
						 const struct jw_cache_group *groups, size_t count, bool drivers)
{
	char size[TEXT_SHORT], text[64];

	for (size_t i = 0; i < count; i++) {
		const char *name = drivers           ? driver_text(text, groups[i].name)
						   : *groups[i].name ? groups[i].name
											 : "unknown";

		output_line(out, STYLE_PLAIN, "  %-9s %-28s %6zu  %s", i ? "" : title, name,
					groups[i].entries, text_bytes(size, groups[i].bytes));
	}
}

static void print_damaged(const struct output *out, const struct jw_cache_report *report)
{
	size_t shown = report->damaged < MOST_SHOWN ? report->damaged : MOST_SHOWN;

	for (size_t i = 0; i < shown; i++)
		output_line(out, STYLE_BAD, "  damaged   %s: %s", report->damaged_entries[i].name,
					report->damaged_entries[i].reason);
	if (shown < report->damaged)
		output_line(out, STYLE_BAD, "            and %zu more (--json lists them)",
					report->damaged - shown);
}

static void print_index(const struct output *out, const struct jw_cache_report *report)
{
	char total[TEXT_SHORT], rows[TEXT_SHORT];

	if (report->rows_without_file)
		output_line(out, STYLE_FAINT, "  %zu rows of the index stand for files that are gone",
					report->rows_without_file);
	if (report->files_without_row)
		output_line(
			out, STYLE_FAINT,
			"  %zu entries have no row in the index: drivers use them and do not count them",
			report->files_without_row);
	if (report->rows_repeated)
		output_line(out, STYLE_FAINT, "  %zu rows of the index stand there more than once",
					report->rows_repeated);
	if (report->foreign)
		output_line(out, STYLE_FAINT, "  %zu files or folders are no part of a driver's cache",
					report->foreign);
	if (!strcmp(report->next_insert, "wipes"))
		output_line(out, STYLE_BAD,
					"  The index is %s: at its next insert the driver deletes every entry. "
					"“jitwarm prime” mends it first.",
					report->index);
	else if (strcmp(report->next_insert, "adds") != 0)
		output_line(out, report->harmful ? STYLE_BAD : STYLE_WARN,
					"  The index counts %s where its rows make %s: at its next insert the driver "
					"evicts %s. “jitwarm prime” mends it.",
					text_bytes(total, report->index_bytes), text_bytes(rows, report->rows_bytes),
					report->harmful ? "every entry and stores nothing" : "more than it has to");
}

static void print_report(const struct output *out, const struct jw_cache_report *report)
{
	char size[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s", report->path);
	if (!report->entries && !report->rows) {
		output_line(out, STYLE_PLAIN, "  empty");
	} else {
		output_line(out, STYLE_PLAIN, "  %zu entries, %s: %zu sound, %zu damaged", report->entries,
					text_bytes(size, report->bytes), report->sound, report->damaged);
		print_groups(out, "GPU", report->by_arch, report->arch_count, false);
		print_groups(out, "driver", report->by_driver, report->driver_count, true);
		if (report->kinds[JW_CACHE_OPENCL] || report->kinds[JW_CACHE_OTHER])
			output_line(out, STYLE_PLAIN, "  kind      CUDA %zu, OpenCL %zu, other %zu",
						report->kinds[JW_CACHE_CUDA], report->kinds[JW_CACHE_OPENCL],
						report->kinds[JW_CACHE_OTHER]);
	}
	print_damaged(out, report);
	print_index(out, report);
}

static void print_repaired(const struct output *out, const struct jw_cache_repaired *repaired)
{
	if (repaired->removed)
		output_line(out, STYLE_GOOD, "  repaired: %zu damaged entries removed", repaired->removed);
	if (repaired->counted || repaired->dropped || repaired->mended)
		output_line(out, STYLE_GOOD,
					"  repaired: the index (%zu rows for entries that had none, %zu rows out)",
					repaired->counted, repaired->dropped);
}

static enum exit_status verify_run(struct cli *cli)
{
	struct jw_cache_options options = library_options(cli);
	struct jw_cache_report *report = NULL;
	struct jw_cache_repaired repaired = {0};
	struct jw_error err = {0};
	enum exit_status status = check_operands(cli);

	if (status != EXIT_DONE)
		return status;
	os_catch_interrupts();
	if ((options_given(&cli->options, "repair") && jw_cache_repair(&err, &options, &repaired)) ||
		jw_cache_verify(&err, &options, &report))
		return cache_fail(cli, &err);
	print_report(&cli->out, report);
	print_repaired(&cli->out, &repaired);
	if (cli->out.json && output_json(&err, &cli->out, verify_document(report, &repaired)))
		status = cli_fail(cli, &err);
	else if (report->damaged || report->harmful)
		status = EXIT_COLD;
	jw_cache_report_free(report);
	return status;
}

static const struct cli_option verify_options[] = {
	{.name = "cache",
	 .kind = OPTION_VALUE,
	 .value = "DIR",
	 .help = "Look at this directory instead of the one that the driver uses"},
	{.name = "repair",
	 .kind = OPTION_FLAG,
	 .help = "Remove damaged entries and bring the index in line with the files; what is not "
			 "understood is left alone"},
	{0}};

const struct cli_command command_cache_verify = {
	.name = "cache verify",
	.summary = "Check every entry of the driver's cache",
	.usage = "[--repair] [--cache DIR]",
	.description =
		"Reads every entry of the driver's JIT cache and checks it as the driver does: its format, "
		"its name, the checksum of what it holds; then compares the index with the files. Without "
		"--repair nothing "
		"is changed.\n\n"
		"Exit status: 0 where all is sound, 1 where entries are damaged or the index would make "
		"the "
		"driver throw entries away, 2 where the driver does not cache at all, 3 where the "
		"directory "
		"cannot be read or is none of a driver's. A cache that is not there yet is empty.",
	.options = verify_options,
	.run = verify_run,
};

/* ---- list */

static const char *const form_names[] = {"load", "link", "nvjitlink"};

static const char *what_text(const struct jw_cache_entry *entry)
{
	if (entry->damaged)
		return "damaged";
	return entry->kind == JW_CACHE_CUDA ? form_names[entry->form] : kind_names[entry->kind];
}

static const char *date_text(char text[32], int64_t mtime_ns)
{
	time_t seconds = (time_t)(mtime_ns / 1000000000);
	const struct tm *local = localtime(&seconds);

	if (!local || !strftime(text, 32, "%Y-%m-%d %H:%M", local))
		(void)snprintf(text, 32, "?");
	return text;
}

static int print_list(struct jw_error *err, const struct output *out,
					  const struct jw_cache_list *list)
{
	struct table table = {0};
	int result;

	table_column(&table, "entry", TABLE_LEFT);
	table_column(&table, "what", TABLE_LEFT);
	table_column(&table, "GPU", TABLE_LEFT);
	table_column(&table, "driver", TABLE_LEFT);
	table_column(&table, "source", TABLE_RIGHT);
	table_column(&table, "result", TABLE_RIGHT);
	table_column(&table, "written", TABLE_LEFT);
	table_column(&table, "options", TABLE_LEFT);
	for (size_t i = 0; i < list->count; i++) {
		const struct jw_cache_entry *entry = &list->entries[i];
		char arch[JW_TARGET_TEXT] = "", driver[64], size[TEXT_SHORT], date[32];

		if (entry->target.sm)
			(void)jw_target_sm(arch, entry->target);
		table_cell(&table, STYLE_PLAIN, "%016llx", (unsigned long long)entry->key);
		table_cell(&table, entry->damaged ? STYLE_BAD : STYLE_PLAIN, "%s", what_text(entry));
		table_cell(&table, STYLE_PLAIN, "%s", arch);
		table_cell(&table, STYLE_PLAIN, "%s",
				   entry->damaged ? "" : driver_text(driver, entry->driver));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, entry->payload_bytes));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, entry->value_bytes));
		table_cell(&table, STYLE_FAINT, "%s", date_text(date, entry->mtime_ns));
		table_cell(&table, STYLE_FAINT, "%s", entry->options);
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

static cJSON *entry_object(const struct jw_cache_entry *entry)
{
	cJSON *object = cJSON_CreateObject();
	char arch[JW_TARGET_TEXT] = "", key[17];
	int64_t mtime_s = entry->mtime_ns / 1000000000;

	if (entry->target.sm)
		(void)jw_target_sm(arch, entry->target);
	(void)snprintf(key, sizeof key, "%016llx", (unsigned long long)entry->key);
	if (object && cJSON_AddStringToObject(object, "key", key) &&
		cJSON_AddStringToObject(object, "kind", kind_names[entry->kind]) &&
		(entry->kind != JW_CACHE_CUDA ||
		 cJSON_AddStringToObject(object, "form", form_names[entry->form])) &&
		cJSON_AddStringToObject(object, "arch", arch) &&
		cJSON_AddStringToObject(object, "driver", entry->driver) &&
		cJSON_AddStringToObject(object, "options", entry->options) &&
		cJSON_AddNumberToObject(object, "source_bytes", (double)entry->payload_bytes) &&
		cJSON_AddNumberToObject(object, "value_bytes", (double)entry->value_bytes) &&
		cJSON_AddNumberToObject(object, "file_bytes", (double)entry->file_bytes) &&
		cJSON_AddNumberToObject(object, "mtime_s", (double)mtime_s) &&
		cJSON_AddBoolToObject(object, "in_index", entry->in_index) &&
		cJSON_AddBoolToObject(object, "damaged", entry->damaged))
		return object;
	cJSON_Delete(object);
	return NULL;
}

static cJSON *list_document(const struct jw_cache_list *list)
{
	cJSON *document = output_document("cache-list");
	cJSON *array = document && cJSON_AddStringToObject(document, "path", list->path)
					   ? cJSON_AddArrayToObject(document, "entries")
					   : NULL;

	for (size_t i = 0; array && i < list->count; i++)
		if (!cJSON_AddItemToArray(array, entry_object(&list->entries[i])))
			array = NULL;
	if (array)
		return document;
	cJSON_Delete(document);
	return NULL;
}

static enum exit_status list_run(struct cli *cli)
{
	struct jw_cache_options options = library_options(cli);
	struct jw_cache_list *list = NULL;
	struct jw_error err = {0};
	enum exit_status status = check_operands(cli);

	if (status != EXIT_DONE)
		return status;
	os_catch_interrupts();
	if (jw_cache_list(&err, &options, &list))
		return cache_fail(cli, &err);
	if (!list->count)
		output_line(&cli->out, STYLE_PLAIN, "%s: empty", list->path);
	else if (output_wants_text(&cli->out) && print_list(&err, &cli->out, list))
		status = cli_fail(cli, &err);
	if (cli->out.json && output_json(&err, &cli->out, list_document(list)))
		status = cli_fail(cli, &err);
	jw_cache_list_free(list);
	return status;
}

const struct cli_command command_cache_list = {
	.name = "cache list",
	.summary = "List the entries of the driver's cache",
	.usage = "[--cache DIR]",
	.description =
		"Lists what the driver's JIT cache holds, in the order in which the driver will evict it; "
		"entries that its index does not count come last. What: “load” is a module, “link” an "
		"input "
		"of run-time linking, “nvjitlink” made by that library, “opencl” the PTX of an OpenCL "
		"program. Values are not hashed; “jitwarm cache verify” does that.",
	.options = cache_options,
	.run = list_run,
};
