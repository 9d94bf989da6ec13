#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jitwarm/cache.h>
#include <jitwarm/marks.h>
#include <jitwarm/prune.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/output.h"
#include "cli/parts/cache_commands.h"
#include "cli/parts/module_text.h"
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

static int read_rows(const struct jw_cache_listing *list, const struct jw_marks *marks,
					 struct cache_list_document *document)
{
	document->rows = mem_array(list->count, sizeof *document->rows);
	for (; document->rows && document->count < list->count; document->count++) {
		const struct jw_cache_entry *entry = &list->entries[document->count];

		document->rows[document->count] = (struct cache_list_row){
			.entry = *entry,
			.carried = jw_marks_has(marks, entry->key),
		};
	}
	return 0;
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
	failed = jw_marks_open(cli_state(NULL, cli), list->path, &marks) ||
			 read_rows(list, marks, &document) ||
			 (list->count && output_wants_text(&cli->out) &&
			  print_cache_list(err, &cli->out, &document)) ||
			 document_print(&cli->out, &document_cache_list, &document);
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

enum { MOST_SHOWN = 20 };

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
	output_count(out, STYLE_FAINT, "  ", report->rows_without_file,
				 "row of the index names a file that is gone",
				 "rows of the index name files that are gone");
	output_count(out, STYLE_FAINT, "  ", report->files_without_row,
				 "entry without a row in the index: drivers use it and do not count it",
				 "entries without a row in the index: drivers use them and do not count them");
	output_count(out, STYLE_FAINT, "  ", report->rows_repeated, "row of the index repeats another",
				 "rows of the index repeat others");
	output_count(out, STYLE_FAINT, "  ", report->rows_of_other_size,
				 "row of the index counts another size than its file's",
				 "rows of the index count other sizes than their files'");
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
		module_text_marks(out, "  ", "them", found->carried, "");
	}
	print_damaged(out, report);
	print_index(out, report);
}

static void print_repaired(const struct output *out, const struct jw_cache_repaired *repaired)
{
	if (repaired->removed)
		output_line(out, STYLE_GOOD, "  repaired: %s removed",
					TEXT_COUNT(repaired->removed, "damaged entry", "damaged entries"));
	if (repaired->counted || repaired->dropped || repaired->mended)
		output_line(out, STYLE_GOOD, "  repaired: the index (rows added: %zu, removed: %zu)",
					repaired->counted, repaired->dropped);
}

static int verify_run(struct jw_error *err, struct cli *cli)
{
	struct jw_cache_options options = cache_command_options(cli);
	struct cache_verify_document found = {0};
	struct jw_cache_report *report = NULL;
	struct jw_marks *marks = NULL;
	int failed = 0;

	os_catch_interrupts();
	/* Without the profile, only machine code of known drivers is judged. */
	if (!cli_open_asleep(NULL, cli))
		options.driver = &cli->system->driver;
	if ((options_given(&cli->options, "repair") &&
		 jw_cache_repair(err, &options, &found.repaired)) ||
		jw_cache_verify(err, &options, &report))
		return cache_command_fail(err, cli);
	jw_marks_open(cli_state(NULL, cli), report->path, &marks);
	if (!failed) {
		found.report = *report;
		found.carried = jw_marks_count(marks);
		print_verify_report(&cli->out, &found);
		print_repaired(&cli->out, &found.repaired);
		cli->status = report->damaged || report->outlook.harmful ? EXIT_COLD : EXIT_DONE;
		failed = document_print(&cli->out, &document_cache_verify, &found);
	}
	jw_marks_close(marks);
	jw_cache_report_free(report);
	return failed;
}

static const struct cli_option verify_options[] = {
	CLI_CACHE,
	CLI_FLAG("repair", "Remove damaged entries and bring the index in line with the files; unknown "
					   "files are left alone"),
	{0}};

const struct cli_command command_cache_verify = {
	.name = "cache verify",
	.summary = "Check every entry of the driver's cache",
	.usage = "[--repair] [--cache DIR]",
	.description =
		"Checks every entry of the driver's JIT cache as the driver does: format, name, checksum; "
		"then compares the index with the files. Without --repair nothing is changed.\n\nExit "
		"status: 0 if all is sound, 1 if entries are damaged or the index would make the driver "
		"discard entries, 2 if the driver does not cache at all, 3 if the directory cannot be read "
		"or is not a driver's. A missing cache counts as empty.",
	.options = verify_options,
	.no_operands = "a directory is named with --cache DIR",
	.run = verify_run,
};

/* jitwarm cache prune: removes entries that programs no longer look for. */

enum { MOST_DRIVERS = 64, GROUP_TEXT = 96 };

/* "sm_86, driver 535.309.01" */
static const char *group_text(char text[GROUP_TEXT], const struct jw_prune_group *group)
{
	char arch[JW_TARGET_TEXT] = "unknown GPU", driver[CACHE_DRIVER_TEXT];

	if (group->target.sm)
		(void)jw_target_sm(arch, group->target);
	(void)text_format(text, GROUP_TEXT, "%s, driver %s", arch,
					  cache_command_driver_text(driver, group->driver));
	return text;
}

static void print_pruned_groups(const struct output *out, const struct jw_prune_result *result)
{
	char size[TEXT_SHORT], what[GROUP_TEXT];
	size_t shown = result->group_count < MOST_SHOWN ? result->group_count : MOST_SHOWN;

	for (size_t i = 0; i < shown; i++)
		output_line(out, STYLE_PLAIN, "  %6zu  %8s  %s", result->groups[i].entries,
					text_bytes(size, result->groups[i].bytes),
					group_text(what, &result->groups[i]));
	if (shown < result->group_count)
		output_line(out, STYLE_PLAIN, "  and %zu more kinds (--json lists them)",
					result->group_count - shown);
}

static void print_staying(const struct output *out, const struct jw_prune_result *result)
{
	char what[GROUP_TEXT];

	for (size_t i = 0; i < result->staying_count && i < MOST_SHOWN; i++)
		output_line(out, STYLE_FAINT,
					result->staying[i].newer
						? "  kept: %s of a driver newer than this machine's (--driver with its "
						  "version removes such entries): %s"
						: "  kept: %s of an unknown driver or compiler library (--driver with its "
						  "stamp removes such entries): %s",
					TEXT_COUNT(result->staying[i].entries, "entry", "entries"),
					group_text(what, &result->staying[i]));
}

static void print_prune_result(const struct output *out, const struct jw_prune_result *result,
							   bool apply)
{
	char size[TEXT_SHORT];

	output_line(out, STYLE_STRONG, "%s: %s, %s", result->path,
				TEXT_COUNT(result->entries, "entry", "entries"), text_bytes(size, result->bytes));
	print_pruned_groups(out, result);
	if (!result->chosen_entries)
		output_line(out, STYLE_GOOD, "  nothing to prune");
	else if (apply)
		output_line(out, STYLE_GOOD, "  %s removed, %s",
					TEXT_COUNT(result->removed, "entry", "entries"),
					text_bytes(size, result->removed_bytes));
	else
		output_line(out, STYLE_PLAIN,
					"  %s would be removed, %s. Nothing was removed: add --apply.",
					TEXT_COUNT(result->chosen_entries, "entry", "entries"),
					text_bytes(size, result->chosen_bytes));
	if (result->changed)
		output_line(out, STYLE_WARN, "  %s not removed: rewritten meanwhile",
					TEXT_COUNT(result->changed, "entry", "entries"));
	if (result->not_judged)
		output_line(out, STYLE_WARN,
					"  %s not judged: damaged or unreadable, see “jitwarm cache verify”",
					TEXT_COUNT(result->not_judged, "entry", "entries"));
	print_staying(out, result);
}

static int read_given_drivers(struct jw_error *err, const struct options *given,
							  const char *drivers[MOST_DRIVERS], struct jw_prune_options *options)
{
	for (size_t i = 0; i < options_count(given, "driver"); i++) {
		const char *text = options_item(given, "driver", i);

		if (!strcmp(text, "former"))
			options->former_drivers = true;
		else if (options->driver_count == MOST_DRIVERS)
			return error_set(err, JW_ERR_USAGE, "--driver: at most %d", MOST_DRIVERS);
		else
			drivers[options->driver_count++] = text;
	}
	return 0;
}

/* “30” would mean half a minute and is refused. */
static int read_age(struct jw_error *err, const struct options *given, uint64_t *ret_s)
{
	const char *text = options_value(given, "older-than");

	*ret_s = options_number(given, "older-than", 0) / 1000;
	if (text && text[strspn(text, "0123456789")] == '\0')
		return error_set(err, JW_ERR_USAGE,
						 "--older-than %.20s: the unit is missing; for days say %.20sd", text,
						 text);
	return 0;
}

static int prune_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	struct jw_system_options how = {.cache_dir = options_value(given, "cache"), .asleep = true};
	const char *drivers[MOST_DRIVERS];
	struct jw_prune_options options = {
		.cache_dir = how.cache_dir,
		.drivers = drivers,
		.apply = options_given(given, "apply"),
		.cancel = cli_cancel,
	};
	struct cache_prune_document document = {.applied = options.apply};
	struct jw_prune_result *result;
	int failed;

	os_catch_interrupts();
	if (read_given_drivers(err, given, drivers, &options) || read_age(err, given, &options.older_s))
		return -1;
	if (!options.older_s && !options_given(given, "driver"))
		return error_set(err, JW_ERR_USAGE,
						 "nothing to select entries by: give --driver former, or --older-than 30d");
	if (cli_worker(err, cli, &how.worker) || jw_system_open(err, &how, &cli->system))
		return -1;
	options.system = cli->system;
	if (jw_prune(err, &options, &result))
		return cli_hopeless(err, cli, JW_ERR_UNSUPPORTED);
	document.result = *result;
	print_prune_result(&cli->out, result, options.apply);
	if (result->changed || result->not_judged || (result->chosen_entries && !options.apply))
		cli->status = EXIT_COLD;
	failed = document_print(&cli->out, &document_cache_prune, &document);
	jw_prune_result_free(result);
	return failed;
}

static const struct cli_option prune_options[] = {
	CLI_LIST("driver", "former|VERSION|STAMP",
			 "Entries of former drivers (former), of this version (535.309.01), or with this stamp "
			 "(“Mar 25 202615:25:13”); may be repeated"),
	CLI_DURATION("older-than", "AGE",
				 "Entries written longer ago (30d); with --driver, only of those"),
	CLI_FLAG("apply", "Remove them; without it they are only listed"),
	CLI_CACHE,
	{0}};

const struct cli_command command_cache_prune = {
	.name = "cache prune",
	.summary = "Remove entries that programs no longer use",
	.usage = "OPTION… [--apply]",
	.description =
		"Reports, and with --apply removes, useless entries of the driver's JIT cache: of former "
		"drivers, or old ones. It works beside running programs, under the driver's own lock. "
		"“jitwarm export --all -o FILE” keeps them elsewhere; “cache verify --repair” removes "
		"damaged ones.\n\nFormer drivers are those that jitwarm knows or has seen here and whose "
		"library is gone; but not one newer than this machine's that was never seen here, one that "
		"only “make --target” has compiled for in this cache, nor, for 30 days, the one that "
		"“jitwarm ahead” last prepared for. An entry with an unknown stamp may belong to a "
		"compiler library in use (nvJitLink): it is removed only if --driver names its stamp. "
		"Entries of no known form and foreign files are "
		"left alone.\n\nExit status: 0 if nothing is left to prune, 1 if --apply would remove "
		"something or could not, or entries cannot be judged, 2 if this machine's driver is "
		"unknown, 3 on failure.",
	.options = prune_options,
	.no_operands = "a directory is named with --cache DIR",
	.run = prune_run,
};
