/* jitwarm cache: list, verify. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jitwarm/cache.h>
#include <jitwarm/system.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/next_step.h"
#include "cli/output.h"
#include "os/interrupt.h"

/* ---- shared by both commands */

enum { CACHE_DRIVER_TEXT = 64 };

static struct jw_cache_options cache_command_options(const struct cli *cli)
{
	return (struct jw_cache_options){.path = options_value(&cli->options, "cache"),
									 .cancel = cli_cancel};
}

static const char *const cached_kinds[] = {"cuda", "opencl", "other", NULL};
static const char *const cached_forms[] = {"load", "link", "nvjitlink"};

/* Describes a driver. `system`, NULL if unknown, may have a driver that is too new for the table of
 * releases. */
static const char *cache_command_driver_text(char text[CACHE_DRIVER_TEXT], const char *driver,
											 const struct jw_system *system)
{
	enum { STAMP = 19 };
	const char *release = jw_cache_driver_of_stamp(driver);

	if (!release && system && *driver && !strcmp(driver, system->driver.stamp) &&
		system->driver.version.release[0]) {
		(void)jw_driver_text(text, &system->driver.version);
		/* without “ (CUDA 12.4)”, as in the table */
		text[strcspn(text, " ")] = '\0';
		return text;
	}

	(void)text_format(text, CACHE_DRIVER_TEXT,
					  release                   ? "%s"
					  : strlen(driver) == STAMP ? "built “%s”"
					  : *driver                 ? "%s (OpenCL)"
												: "unknown%s",
					  release ? release : driver);
	return text;
}

/* ---- jitwarm cache list */

#define ENTRY(member, ...) JSON(struct jw_cache_entry, member, __VA_ARGS__)

static const char *key_text(char room[JSON_ROOM], const void *key)
{
	(void)snprintf(room, JSON_ROOM, "%016llx", (unsigned long long)*(const uint64_t *)key);
	return room;
}

static const char *format_form(char room[JSON_ROOM], const void *values)
{
	const struct jw_cache_entry *entry = values;

	(void)room;
	return entry->kind == JW_CACHE_CUDA ? cached_forms[entry->form] : NULL;
}

static const struct json_field entry_fields[] = {
	JSON_FORMATTED("key", struct jw_cache_entry, key, key_text, "the entry's name, 16 hex digits"),
	ENTRY(kind, "the kind of entry: `cuda`, `opencl` or `other`", .names = cached_kinds),
	JSON_FORMATTED_OF(
		"form", format_form,
		"CUDA: `load` (a module), `link` (an input of run-time linking) or `nvjitlink`",
		.presence = JSON_UNLESS_NULL),
	JSON_FORMATTED("arch", struct jw_cache_entry, target, document_sm,
				   "the GPU architecture of the entry: `sm_86`; `\"\"` if unknown"),
	ENTRY(driver, "the driver's stamp in the key; for OpenCL the driver's version"),
	ENTRY(options, "the compiler's options in the key, cut at 79 bytes"),
	JSON_AS("source_bytes", struct jw_cache_entry, payload_bytes, "the size of the PTX in the key"),
	ENTRY(value_bytes, "the size of the machine code in the entry"),
	ENTRY(file_bytes, "the size of the entry's file"),
	JSON_NUMBERED("mtime_s", struct jw_cache_entry, mtime_ns, document_whole_seconds,
				  "the time of the last change, in seconds since 1970"),
	ENTRY(in_index, "true: the index has a row for the entry"),
	ENTRY(damaged, "the header of the entry is damaged; only `cache verify` checks the contents"),
	{0},
};

static const struct json_field list_fields[] = {
	JSON(struct jw_cache_listing, path, "the cache directory"),
	JSON_LIST_OF("entries", struct jw_cache_listing, entries, count,
				 JSON_TABLE(struct jw_cache_entry, entry_fields),
				 "the entries, in the order in which the driver will evict them; entries that are "
				 "not in the index come last"),
	{0},
};
const struct json_table document_cache_list = {
	.schema = "jitwarm.cache-list/1",
	.fields = list_fields,
};

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
							const struct jw_cache_listing *list, const struct jw_system *system)
{
	struct table table = {
		.columns = 8,
		.titles = {"entry", "what", "GPU", "driver", "source", "result", "written", "options"},
		.align = {[4] = TABLE_RIGHT, [5] = TABLE_RIGHT},
	};
	char size[TEXT_SHORT];
	uint64_t bytes = 0;
	int result;

	for (size_t i = 0; i < list->count; i++)
		bytes += list->entries[i].file_bytes;
	output_line(out, STYLE_STRONG, "%s: %s, %s", list->path,
				TEXT_COUNT(list->count, "entry", "entries"), text_bytes(size, bytes));
	for (size_t i = 0; i < list->count; i++) {
		const struct jw_cache_entry *entry = &list->entries[i];
		char arch[JW_TARGET_TEXT] = "", driver[CACHE_DRIVER_TEXT], date[32];

		if (entry->target.sm)
			(void)jw_target_sm(arch, entry->target);
		table_cell(&table, STYLE_PLAIN, "%016llx", (unsigned long long)entry->key);
		table_cell(&table, entry->damaged ? STYLE_BAD : STYLE_PLAIN, "%s", what_text(entry));
		table_cell(&table, STYLE_PLAIN, "%s", arch);
		table_cell(&table, STYLE_PLAIN, "%s",
				   entry->damaged ? "" : cache_command_driver_text(driver, entry->driver, system));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, entry->payload_bytes));
		table_cell(&table, STYLE_PLAIN, "%s", text_bytes(size, entry->value_bytes));
		table_cell(&table, STYLE_FAINT, "%s", date_text(date, entry->mtime_ns));
		table_name(&table, STYLE_FAINT, entry->options);
	}
	result = table_print(err, &table, out);
	table_free(&table);
	return result;
}

static int cache_list_run(struct jw_error *err, struct cli *cli)
{
	struct jw_cache_options options = cache_command_options(cli);
	struct jw_cache_listing *list = NULL;
	int result = 0;

	os_catch_interrupts();
	if (jw_cache_list(err, &options, &list))
		return cli_fail_of_cache(err, cli);
	(void)cli_open_asleep(NULL, cli, options_value(&cli->options, "cache"), JW_ASK_NEVER);
	if (!list->count)
		output_line(&cli->out, STYLE_PLAIN, "%s: empty", list->path);
	if (list->count && output_wants_text(&cli->out))
		result = print_cache_list(err, &cli->out, list, cli->system);
	if (!result)
		result = document_print(&cli->out, &document_cache_list, list);
	jw_result_free(list);
	return result;
}

static const struct cli_option list_options[] = {CLI_CACHE, {0}};

const struct cli_command command_cache_list = {
	.name = "cache list",
	.summary = "List the entries of the driver's cache",
	.usage = "[--cache DIR]",
	.description = "Lists the entries of the driver's cache in the order in which the driver would "
				   "evict them.\n\nEntries that the index does not count come last. In the column "
				   "What, “load” is a module, “link” an input of run-time linking, “nvjitlink” an "
				   "entry that NVIDIA's library nvJitLink has made, “opencl” the PTX of an OpenCL "
				   "program. To find damaged entries, use “jitwarm cache verify”.",
	.examples = "jitwarm cache list\n",
	.options = list_options,
	.no_operands = "name a directory with --cache DIR",
	.reads = true,
	.run = cache_list_run,
};

/* ---- jitwarm cache verify */

struct cache_verify_document {
	struct jw_cache_report report;
	struct jw_cache_repaired repaired;
};

#define REPORT(member, ...) JSON(struct cache_verify_document, report.member, __VA_ARGS__)
#define REPORT_AS(name, member, ...)                                                               \
	JSON_AS(name, struct cache_verify_document, member, __VA_ARGS__)

static const struct json_field kind_fields[] = {
	REPORT_AS("cuda", report.kinds[JW_CACHE_CUDA], "sound entries of CUDA"),
	REPORT_AS("opencl", report.kinds[JW_CACHE_OPENCL], "sound entries of OpenCL"),
	REPORT_AS("other", report.kinds[JW_CACHE_OTHER], "sound entries of another kind"),
	{0},
};

static const struct json_field index_fields[] = {
	REPORT_AS("state", report.outlook.index, OUTLOOK_INDEX),
	REPORT_AS("total_bytes", report.index_bytes, "what the driver counts against its limit"),
	REPORT(rows_bytes,
		   "the sum of the sizes in the index's rows, which `total_bytes` should equal"),
	REPORT(rows_repeated, "rows of the index that repeat another row"),
	REPORT(rows_of_other_size, "rows of the index whose size is not the size of the file"),
	{0},
};

static const struct json_field damaged_fields[] = {
	JSON_AS("file", struct jw_cache_damaged, name,
			"the path of the damaged entry, below the cache directory"),
	JSON(struct jw_cache_damaged, reason, "what is damaged"),
	{0},
};

static double repaired_rows(const void *values)
{
	const struct jw_cache_repaired *repaired = values;

	return (double)(repaired->counted + repaired->dropped);
}

static const struct json_field verify_fields[] = {
	REPORT(path, "the cache directory"),
	REPORT(entries, "files that stand where the driver keeps entries"),
	REPORT(sound, "sound entries"),
	REPORT(damaged, "damaged entries"),
	REPORT(bytes, "the size of all entries"),
	REPORT(rows, "rows in the index"),
	REPORT(rows_without_file, "rows of the index without a file"),
	REPORT(files_without_row, "files without a row in the index"),
	REPORT(foreign, "files and folders that do not belong to a driver's cache; left alone"),
	REPORT_AS("repaired_entries", repaired.removed,
			  "with `--repair`: damaged entries that were removed before"),
	JSON_NUMBERED("repaired_rows", struct cache_verify_document, repaired, repaired_rows,
				  "with `--repair`: rows that were added or removed"),
	JSON_NUMBERED("repaired_hold_seconds", struct cache_verify_document, repaired.longest_hold_ns,
				  document_seconds, "with `--repair`: the longest hold of the driver's lock"),
	JSON_PART("kinds", JSON_TABLE(struct cache_verify_document, kind_fields),
			  "the numbers of sound entries, by kind"),
	JSON_PART("index", JSON_TABLE(struct cache_verify_document, index_fields),
			  "the state of the index"),
	REPORT(outlook.next_insert, OUTLOOK_NEXT),
	REPORT(outlook.evicted, OUTLOOK_EVICTED),
	JSON_LIST_OF("damaged_entries", struct cache_verify_document, report.damaged_entries,
				 report.damaged, JSON_TABLE(struct jw_cache_damaged, damaged_fields),
				 "the damaged entries"),
	{0},
};
const struct json_table document_cache_verify = {
	.schema = "jitwarm.cache-verify/1",
	.fields = verify_fields,
};

enum { MAX_SHOWN = 20 };

static void print_damaged(const struct output *out, const struct jw_cache_report *report)
{
	size_t shown = report->damaged < MAX_SHOWN ? report->damaged : MAX_SHOWN;

	for (size_t i = 0; i < shown; i++)
		output_line(out, STYLE_BAD, "  damaged   %s: %s", report->damaged_entries[i].name,
					report->damaged_entries[i].reason);
	if (shown < report->damaged)
		output_line(out, STYLE_BAD, "            and %zu more (--json lists them)",
					report->damaged - shown);
}

static void print_index(const struct output *out, const struct jw_cache_report *report)
{
	output_count(out, STYLE_FAINT, "  ", report->rows_without_file,
				 "row of the index names a file that is gone",
				 "rows of the index name files that are gone");
	output_count(
		out, STYLE_FAINT, "  ", report->files_without_row,
		"entry without a row in the index: drivers use the entry and do not count its size",
		"entries without a row in the index: drivers use the entries and do not count their sizes");
	output_count(out, STYLE_FAINT, "  ", report->rows_repeated,
				 "row of the index repeats another row", "rows of the index repeat other rows");
	output_count(out, STYLE_FAINT, "  ", report->rows_of_other_size,
				 "row of the index has a size that differs from the size of its file",
				 "rows of the index have sizes that differ from the sizes of their files");
	output_count(out, STYLE_FAINT, "  ", report->foreign,
				 "file or folder does not belong to a driver's cache",
				 "files or folders do not belong to a driver's cache");
	if (report->outlook.text[0])
		output_line(out, report->outlook.harmful ? STYLE_BAD : STYLE_WARN, "  %s; %s",
					report->outlook.text, report->outlook.next_step);
}

static void print_verify_report(const struct output *out, const struct cache_verify_document *found)
{
	const struct jw_cache_report *report = &found->report;
	char size[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s", report->path);
	if (!report->entries && !report->rows) {
		output_line(out, STYLE_PLAIN, "  empty");
	} else {
		output_line(out, STYLE_PLAIN, "  %s, %s: %zu sound, %zu damaged",
					TEXT_COUNT(report->entries, "entry", "entries"),
					text_bytes(size, report->bytes), report->sound, report->damaged);
		if (report->kinds[JW_CACHE_OPENCL] || report->kinds[JW_CACHE_OTHER])
			output_line(out, STYLE_PLAIN, "  CUDA %zu, OpenCL %zu, other %zu",
						report->kinds[JW_CACHE_CUDA], report->kinds[JW_CACHE_OPENCL],
						report->kinds[JW_CACHE_OTHER]);
	}
	print_damaged(out, report);
	print_index(out, report);
}

static int cache_verify_run(struct jw_error *err, struct cli *cli)
{
	struct jw_cache_options options = cache_command_options(cli);
	struct cache_verify_document found = {0};
	struct jw_cache_report *report = NULL;
	int result;

	os_catch_interrupts();
	/* Without the profile, only machine code of known drivers is judged. */
	if (!cli_open_asleep(NULL, cli, options_value(&cli->options, "cache"), JW_ASK_NEVER))
		options.driver = &cli->system->driver;
	if ((options_given(&cli->options, "repair") &&
		 jw_cache_repair(err, &options, &found.repaired)) ||
		jw_cache_verify(err, &options, &report))
		return cli_fail_of_cache(err, cli);
	found.report = *report;
	print_verify_report(&cli->out, &found);
	if (found.repaired.removed)
		output_line(&cli->out, STYLE_GOOD, "  repaired: %s removed",
					TEXT_COUNT(found.repaired.removed, "damaged entry", "damaged entries"));
	if (found.repaired.counted || found.repaired.dropped || found.repaired.mended)
		output_line(&cli->out, STYLE_GOOD, "  repaired: the index (rows added: %zu, removed: %zu)",
					found.repaired.counted, found.repaired.dropped);
	if (report->damaged && options_given(&cli->options, "repair")) {
		output_line(&cli->out, STYLE_PLAIN,
					"  not removed: %s: move away what is no entry, and make the others readable",
					TEXT_COUNT(report->damaged, "damaged entry", "damaged entries"));
	} else if (report->damaged && !report->outlook.unknown_version) {
		struct buf line = BUF_MAX(NEXT_STEP_MAX);

		buf_add(&line, "jitwarm cache verify --repair");
		next_step_keep(&line, &cli->options, (const char *const[]){"cache", NULL});
		next_step(&cli->out, STYLE_FAINT, "Next: ", &line);
	}
	cli->status = report->damaged || report->outlook.harmful ? EXIT_COLD : EXIT_DONE;
	result = document_print(&cli->out, &document_cache_verify, &found);
	jw_result_free(report);
	return result;
}

static const struct cli_option verify_options[] = {
	CLI_CACHE,
	CLI_FLAG(
		"repair",
		"Remove damaged entries, and write the index again from the files; unknown files stay"),
	{0}};

const struct cli_command command_cache_verify = {
	.name = "cache verify",
	.summary = "Check every entry of the driver's cache",
	.usage = "[--repair] [--cache DIR]",
	.description =
		"Checks every entry of the driver's cache as the driver does, and compares the index with "
		"the files.\n\nEach entry must have a sound format, name and checksum. Only --repair "
		"changes anything.\n\nExit status: 0 if all is sound, 1 if entries are damaged or the "
		"index would make the driver discard entries, 2 if the driver does not cache at all, 3 if "
		"the directory cannot be read or is not a driver's cache. A missing cache counts as empty.",
	.examples = "jitwarm cache verify\njitwarm cache verify --repair\n",
	.options = verify_options,
	.no_operands = "name a directory with --cache DIR",
	.reads = true,
	.run = cache_verify_run,
};
