/* jitwarm export: the driver's cache as a pack. */
#include <string.h>

#include <jitwarm/pack.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/found_files.h"
#include "cli/gpu_targets.h"
#include "cli/pack_report.h"
#include "os/interrupt.h"
#include "os/shell.h"

/* Exports only entries of modules in the named files; without names all entries. */
static int export_pack(struct jw_error *err, struct cli *cli, struct jw_export_options *options,
					   struct found_files *found)
{
	struct export_document document = {.file = options->output, .result = {0}};
	const char **names = cli->options.operands;
	const size_t count = cli->options.operand_count;
	char word[SHELL_WORD];

	if (count && text_ends(names[0], ".jwpack"))
		return error_set(err, JW_ERR_USAGE, "%s: name the pack with -o: “jitwarm export -o %s”",
						 names[0], shell_word(word, names[0]));
	if (count && found_files_find(err, &cli->out, names, count, false, found))
		return -1;
	options->found = found->found;
	options->system = cli->system;
	if (pack_report_key(err, cli, options))
		return -1;
	if (jw_export(err, options, &document.result))
		return cli_hopeless(err, cli, options->cache_dir ? JW_OK : JW_ERR_NOT_FOUND);
	/* Entries that were not requested, or that packs never contain, are not a loss. */
	if (document.result.damaged + document.result.unreadable + document.result.unsuited)
		cli->status = EXIT_COLD;
	pack_report_print(&cli->out, options->output, &document.result);
	return document_print(&cli->out, &document_export, &document);
}

static int export_run(struct jw_error *err, struct cli *cli)
{
	const struct options *given = &cli->options;
	struct gpu_targets gpus = {0};
	struct jw_export_options options = {
		.cache_dir = options_value(given, "cache"),
		.targets = gpus.targets,
		.all_drivers = options_given(given, "all"),
		.output = options_value(given, "output"),
		.best = options_given(given, "best"),
		.cancel = cli_cancel,
	};
	struct found_files found = {0};
	int result;

	os_catch_interrupts();
	if (!strcmp(options.output, "-"))
		return error_set(err, JW_ERR_USAGE, "-o: name a file");
	if (gpu_targets_arch(err, cli, &gpus) ||
		cli_open_asleep(err, cli, options_value(&cli->options, "cache"), JW_ASK_NEVER))
		return -1;
	options.target_count = gpus.count;
	result = export_pack(err, cli, &options, &found);
	if (!result)
		found_files_end(cli, &found);
	found_files_free(&found);
	return result;
}

static const struct cli_option export_options[] = {
	CLI_VALUE("output", "FILE", "Write the pack to FILE instead of jitwarm.jwpack", .letter = 'o',
			  .names = NAMES_OUTPUT, .otherwise = "jitwarm.jwpack"),
	CLI_CACHE,
	CLI_ENVIRONMENT,
	CLI_LIST("arch", "GPU",
			 "Export only entries for this GPU (sm_86, rtx3070, native for this machine's); may be "
			 "repeated"),
	CLI_FLAG("all", "Include entries of drivers other than this machine's driver", .rare = true),
	CLI_FLAG(
		"best",
		"Compress as much as possible: the pack is a third smaller, and takes forty times longer",
		.rare = true),
	PACKING_SIGN_OPTIONS,
	{0}};

const struct cli_command command_export = {
	.name = "export",
	.summary = "Write the driver's cache into a pack for other machines",
	.usage = "[-o FILE] [--arch GPU]… [OPTION]… [PATH|PACKAGE]…",
	.description =
		"Writes the driver's cache into one compressed file, a pack, for “jitwarm import” on "
		"another machine.\n\nIf you name paths or packages, the pack holds only the entries of "
		"their modules. The pack holds each module and each piece of machine code only once; the "
		"same entries give the same bytes. A pack is a tar archive in zstd frames: “tar --zstd "
		"-tf” lists it. jitwarm leaves out damaged entries and OpenCL entries and, if it knows "
		"this machine's driver, entries of other drivers.\n\nExit status: 0 if the pack was "
		"written, 1 if the pack lacks entries that are damaged, that this account cannot read, or "
		"that a pack cannot hold, or if a name matches no file, 2 if there is no cache to export, "
		"3 on failure.",
	.examples = "jitwarm export -o lab.jwpack --sign\n"
				"jitwarm export --arch rtx3070 tensorflow\n",
	.options = export_options,
	.reads = true,
	.run = export_run,
};
