#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/language.h"
#include "cli/parts/cache_commands.h"
#include "cli/parts/module_text.h"
#include "cli/terminal.h"
#include "os/interrupt.h"

enum { MOST_SHOWN = 20, TITLE_WIDTH = 9, WIDTH = 28 };

/* What a column lacks behind a text as it is printed, in any language. */
static int fill_behind(const char *text, int width)
{
	char *said = language_line(text);
	const int lacking = width - (int)terminal_width(said ? said : text);

	mem_free(said);
	return lacking > 0 ? lacking : 0;
}

static void print_damage_groups(const struct output *out, const char *title,
								const struct jw_cache_group *groups, size_t count, bool drivers)
{
	char size[TEXT_SHORT], text[CACHE_DRIVER_TEXT];

	for (size_t i = 0; i < count; i++) {
		const char *name = drivers           ? cache_command_driver_text(text, groups[i].name)
						   : *groups[i].name ? groups[i].name
											 : "unknown";
		const char *before = i ? "" : title;

		output_line(out, STYLE_PLAIN, "  %s%*s %s%*s %6zu  %s", before,
					fill_behind(before, TITLE_WIDTH), "", name, fill_behind(name, WIDTH), "",
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
		print_damage_groups(out, "GPU", report->by_arch, report->arch_count, false);
		print_damage_groups(out, "driver", report->by_driver, report->driver_count, true);
		if (report->kinds[JW_CACHE_OPENCL] || report->kinds[JW_CACHE_OTHER])
			output_line(out, STYLE_PLAIN, "  kind      CUDA %zu, OpenCL %zu, other %zu",
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
	int failed;

	os_catch_interrupts();
	/* Without the profile, only machine code of known drivers is judged. */
	if (!cli_open_asleep(NULL, cli))
		options.driver = &cli->system->driver;
	if ((options_given(&cli->options, "repair") &&
		 jw_cache_repair(err, &options, &found.repaired)) ||
		jw_cache_verify(err, &options, &report))
		return cache_command_fail(err, cli);
	failed = jw_marks_open(err, cli_state(NULL, cli), report->path, &marks);
	if (!failed) {
		found.report = *report;
		found.carried = jw_marks_count(marks);
		print_verify_report(&cli->out, &found);
		print_repaired(&cli->out, &found.repaired);
		cli->status = report->damaged || report->outlook.harmful ? EXIT_COLD : EXIT_DONE;
		failed = document_print(err, &cli->out, &document_cache_verify, &found);
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
		"status: 0 where all is sound, 1 where entries are damaged or the index would make the "
		"driver discard entries, 2 where the driver does not cache at all, 3 where the directory "
		"cannot be read or is not a driver's. A missing cache counts as empty.",
	.options = verify_options,
	.no_operands = "a directory is named with --cache DIR",
	.run = verify_run,
};
