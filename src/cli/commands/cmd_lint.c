#include <string.h>

#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/found_files.h"
#include "cli/parts/gpu_targets.h"
#include "cli/parts/lint_text.h"

enum lint_format { LINT_TEXT, LINT_JSON, LINT_GITHUB, LINT_FORMATS };

static const char *const format_names[] = {
	[LINT_TEXT] = "text", [LINT_JSON] = "json", [LINT_GITHUB] = "github"};

static int read_format(struct jw_error *err, struct cli *cli, enum lint_format *ret_format)
{
	const char *given = options_value(&cli->options, "format");
	unsigned format = LINT_TEXT;

	if (!given) {
		*ret_format = cli->out.json ? LINT_JSON : LINT_TEXT;
		return 0;
	}
	while (format < LINT_FORMATS && strcmp(given, format_names[format]) != 0)
		format++;
	if (format == LINT_FORMATS)
		return error_set(err, JW_ERR_USAGE, "--format is text, json or github, not “%s”", given);
	if (cli->out.json && format != LINT_JSON)
		return error_set(err, JW_ERR_USAGE, "--json and --format %s are two formats", given);
	cli->out.json = format == LINT_JSON;
	*ret_format = (enum lint_format)format;
	return 0;
}

/* The GPUs on sale since 2018 but Jetson, unless --gpus names others. */
static int read_gpus(struct jw_error *err, struct cli *cli, struct gpu_targets *gpus)
{
	const char *driver = options_value(&cli->options, "driver");

	if (gpu_targets_list(err, cli, "gpus", gpus) ||
		(driver && jw_driver_parse(err, driver, &gpus->driver)))
		return -1;
	return gpus->count ? 0
					   : jw_targets_read(err, "rtx20..rtx50,a100,h100,b200", NULL, gpus->targets,
										 GPUS_MOST, &gpus->count);
}

static int print_result(struct jw_error *err, struct cli *cli, enum lint_format format,
						const struct jw_found *found, const struct jw_lint_result *result,
						const struct lint_bound *bound)
{
	switch (format) {
	case LINT_JSON: return document_print(err, &cli->out, &document_lint, result);
	case LINT_GITHUB: lint_github_print(&cli->out, found, result, bound); return 0;
	case LINT_TEXT:
	case LINT_FORMATS: break;
	}
	if (result->images)
		return lint_text_print(err, &cli->out, result, bound);
	found_files_none(cli, found);
	return 0;
}

static void end_with_result(struct cli *cli, const struct jw_lint_result *result,
							const struct lint_bound *bound, size_t troubles)
{
	cli_end_with(cli, exit_of_troubles(troubles, result->images));
	for (size_t i = 0; i < result->gpu_count; i++) {
		if (result->gpus[i].failing)
			cli_end_with(cli, EXIT_CANNOT);
		if (bound->set && result->gpus[i].start.likely > bound->most_start_s)
			cli_end_with(cli, EXIT_COLD);
	}
}

static int lint_files(struct jw_error *err, struct cli *cli, const struct gpu_targets *gpus,
					  enum lint_format format)
{
	const struct options *given = &cli->options;
	const struct lint_bound bound = {options_given(given, "max-start"),
									 (double)options_number(given, "max-start", 0) / 1000};
	struct jw_lint_options options = {
		.size = sizeof options,
		.targets = gpus->targets,
		.target_count = gpus->count,
		.driver = gpus->driver,
		.bounded = bound.set,
		.most_start_s = bound.most_start_s,
		.cancel = cli_cancel,
	};
	struct jw_lint_result *result;
	struct found_files files;
	int failed;

	if (found_files_find(err, &cli->out, given->operands, given->operand_count, false, &files))
		return -1;
	options.paths = files.paths;
	options.path_count = files.count;
	failed = jw_lint(err, &options, &result) ? cli_hopeless(err, cli, JW_ERR_UNSUPPORTED) : 0;
	if (!failed) {
		for (size_t i = 0; i < result->trouble_count; i++)
			output_error(&cli->out, "%s", result->troubles[i]);
		end_with_result(cli, result, &bound, result->trouble_count + files.found->trouble_count);
		if (!files.count && !cli->status)
			cli->status = EXIT_CANNOT; /* nothing was judged, in whatever format that is said */
		failed = print_result(err, cli, format, files.found, result, &bound);
		jw_lint_free(result);
	}
	found_files_free(&files);
	return failed;
}

static int lint_run(struct jw_error *err, struct cli *cli)
{
	enum lint_format format;
	struct gpu_targets gpus;

	if (!cli->options.operand_count)
		return error_set(err, JW_ERR_USAGE, "name a wheel, a conda package or a library");
	if (read_format(err, cli, &format) || read_gpus(err, cli, &gpus))
		return -1;
	return lint_files(err, cli, &gpus, format);
}

static const struct cli_option options[] = {
	CLI_LIST("gpus", "GPUS",
			 "For these GPUs: rtx4090, h100, sm_86, ranges (rtx20..rtx50, sm_80..sm_90), several "
			 "with commas; may be repeated. Without it: rtx20..rtx50,a100,h100,b200"),
	CLI_DURATION("max-start", "TIME",
				 "The bound: 1 is the status where the first start is predicted to compile for "
				 "longer than this (5s, 2m)"),
	CLI_VALUE("driver", "VERSION",
			  "For this driver: its version (550.163.01, 580) or its CUDA version (12.2)"),
	CLI_VALUE("format", "NAME",
			  "Print text, json (as --json) or github (annotations of a workflow)",
			  .choices = "text|json|github"),
	CLI_ENVIRONMENT,
	{0},
};

const struct cli_command command_lint = {
	.name = "lint",
	.summary = "Say on whose GPU a package would be compiled at its first start",
	.usage = "[OPTION]… WHEEL|PATH|PACKAGE…",
	.description =
		"For those who make packages, in continuous integration: it needs neither driver nor GPU, "
		"runs none of the files' code, and gives the same result on any machine. For each GPU of "
		"--gpus it says which libraries would be compiled by the driver at the first start, for "
		"how long on one core, and which -gencode of nvcc spares it: for several GPUs of one major "
		"version the oldest, whose machine code the others run, too. Times are those of a usual "
		"machine, from a model; the bound is compared with the middle of the range.\n\nExit "
		"status: 1 beyond the bound, or where a file cannot be read or holds damaged device code, "
		"2 where a program will fail on one of these GPUs since no code in a file runs there, 3 "
		"where nothing could be read.",
	.options = options,
	.run = lint_run,
};
