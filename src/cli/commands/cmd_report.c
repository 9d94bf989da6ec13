/* jitwarm report: a page to look at. */
#include <string.h>

#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/system.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/gpu_targets.h"
#include "cli/parts/module_text.h"
#include "cli/parts/prime_text.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"

enum { MOST_RUNS_READ = 1000 };

/* What the page shows, and who frees it. */
struct reporting {
	struct cli *cli;
	struct gpu_targets gpus;
	struct jw_found *found;
	struct jw_check_result *packages;
	cJSON *runs;
	struct jw_error why; /* there is no list of packages */
	const char *path;
	int fd; /* os_output_begin */
};

/* Without an environment the rest of the page is worth writing; a named file must be there. */
static int report_packages(struct jw_error *err, struct reporting *reporting)
{
	struct cli *cli = reporting->cli;
	const struct jw_find_options find = {.size = sizeof find,
										 .names = cli->options.operands,
										 .name_count = cli->options.operand_count,
										 .cancel = cli_cancel};
	struct jw_check_options check = {.size = sizeof check,
									 .system = cli->system,
									 .targets = reporting->gpus.targets,
									 .target_count = reporting->gpus.count,
									 .driver = options_value(&cli->options, "driver"),
									 .cancel = cli_cancel};

	if (!check.target_count && !cli->system->gpu_count) {
		error_fill(&reporting->why, JW_ERR_NOT_FOUND, "%s", cli->system->why_none);
		return 0;
	}
	if (jw_find(&reporting->why, &find, &reporting->found))
		return reporting->why.code == JW_ERR_NOT_FOUND && !find.name_count
				   ? 0
				   : error_copy(err, &reporting->why);
	found_files_print(&cli->out, reporting->found);
	check.found = reporting->found;
	return jw_check(err, &check, &reporting->packages);
}

static int report_runs(struct jw_error *err, struct reporting *reporting)
{
	const char *state = reporting->cli->system->state_dir;
	char **lines;
	size_t count;

	reporting->runs = cJSON_CreateArray();
	if (!reporting->runs)
		return error_set(err, JW_ERR_MEMORY, "out of memory");
	prime_history_read(state, MOST_RUNS_READ, &lines, &count);
	for (size_t i = 0; i < count; i++) {
		cJSON *run = json_parse(NULL, lines[i], strlen(lines[i]));

		if (!run || !cJSON_AddItemToArray(reporting->runs, run))
			cJSON_Delete(run);
	}
	jw_lines_free(lines, count);
	return 0;
}

static int write_report(struct jw_error *err, struct reporting *reporting)
{
	struct cli *cli = reporting->cli;
	const struct report_data data = {
		.system = cli->system,
		.time_s = os_now_s(),
		.packages = reporting->packages,
		.why_no_packages = error_text(&reporting->why),
		.environment = reporting->found ? reporting->found->environment : NULL,
		.runs = reporting->runs,
	};
	struct buf html;
	struct report_document document = {.file = reporting->path};
	char size[TEXT_SHORT];
	int failed;

	failed = report_page_write(err, &html, &data);
	document.bytes = html.size;
	if (!failed) {
		failed = os_output_end(err, reporting->path, reporting->fd, html.data, html.size);
		reporting->fd = -1;
	}
	buf_free(&html);
	if (failed)
		return -1;
	output_line(&cli->out, STYLE_GOOD, "%s: written (%s); a browser shows it", reporting->path,
				text_bytes(size, document.bytes));
	return document_print(err, &cli->out, &document_report, &document);
}

static int gather_and_write(struct jw_error *err, struct reporting *reporting)
{
	struct cli *cli = reporting->cli;

	return gpu_targets_read(err, cli, &reporting->gpus) ||
				   (reporting->gpus.count
						? cli_open_asleep(err, cli)
						: cli_open_asking(err, cli, options_value(&cli->options, "cache"),
										  false)) ||
				   report_packages(err, reporting) || report_runs(err, reporting) ||
				   write_report(err, reporting)
			   ? -1
			   : 0;
}

/* Whether the file can be written is seen before the minutes that a first look may take. */
static int report_run(struct jw_error *err, struct cli *cli)
{
	const char *output = options_value(&cli->options, "output");
	struct reporting reporting = {.cli = cli, .path = output ? output : "jitwarm-report.html"};
	int failed;

	if (!strcmp(reporting.path, "-"))
		return error_set(err, JW_ERR_USAGE, "-o: name a file");
	os_catch_interrupts();
	if (os_output_begin(err, reporting.path, &reporting.fd))
		return -1;
	failed = gather_and_write(err, &reporting);
	if (reporting.fd >= 0)
		(void)os_output_end(NULL, reporting.path, reporting.fd, NULL, 0);
	cJSON_Delete(reporting.runs);
	jw_check_result_free(reporting.packages);
	jw_found_free(reporting.found);
	return failed;
}

static const struct cli_option report_options[] = {
	CLI_VALUE("output", "FILE", "Write the page to FILE instead of jitwarm-report.html",
			  .letter = 'o', .names = NAMES_OUTPUT),
	GPUS_OPTIONS,
	CLI_ENVIRONMENT,
	CLI_CACHE,
	{0}};

const struct cli_command command_report = {
	.name = "report",
	.summary = "Write a page to look at: packages, the cache and past runs",
	.usage = "[OPTION]… [PATH|PACKAGE]…",
	.description =
		"Writes one HTML file that shows the GPUs and the driver; for each package of the active "
		"Python environment, or each named one, what its first start compiles on each GPU, or on "
		"those of --target; the driver's cache, against its limit; and the runs that "
		"put something into the cache, with the time that they saved. The file holds all that it "
		"shows: it has no script and loads nothing, so that it can be mailed and printed. It "
		"names files and folders of this machine.",
	.options = report_options,
	.run = report_run,
};
