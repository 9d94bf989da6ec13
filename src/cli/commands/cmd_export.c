/* jitwarm export: the driver's cache as a pack. */
#include <stdio.h>
#include <string.h>

#include <jitwarm/find.h>
#include <jitwarm/pack.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/found_notes.h"
#include "cli/parts/pack_report.h"
#include "os/console.h"
#include "os/interrupt.h"

enum { MOST_TARGETS = 32, STANDARD_OUTPUT = 1 };

static int read_targets(struct jw_error *err, const struct options *options,
						struct jw_target targets[MOST_TARGETS], size_t *ret_count)
{
	size_t count = options_count(options, "arch");

	if (count > MOST_TARGETS)
		return error_set(err, JW_ERR_USAGE, "--arch: at most %d", MOST_TARGETS);
	for (size_t i = 0; i < count; i++) {
		const char *text = options_item(options, "arch", i);

		if (!jw_target_parse(text, &targets[i]))
			return error_set(err, JW_ERR_USAGE, "--arch: “%.40s” is no architecture such as sm_86",
							 text);
	}
	*ret_count = count;
	return 0;
}

static enum exit_status check_usage(struct cli *cli)
{
	const char *file = options_value(&cli->options, "output");
	struct jw_error err;

	if (cli->options.operand_count)
		(void)error_set(&err, JW_ERR_USAGE, "“%.100s”: the file is named with -o FILE",
						cli->options.operands[0]);
	else if (file && !strcmp(file, "-") && cli->out.json)
		(void)error_set(&err, JW_ERR_USAGE, "--json and -o -: both want standard output");
	else if (file && !strcmp(file, "-") && options_given(&cli->options, "sign") &&
			 !options_given(&cli->options, "signature"))
		(void)error_set(&err, JW_ERR_USAGE,
						"-o - and --sign: name the signature's file with "
						"--signature");
	else if (file && !strcmp(file, "-") && os_is_terminal(STANDARD_OUTPUT))
		(void)error_set(&err, JW_ERR_USAGE, "-o -: a terminal cannot take a pack");
	else if (options_given(&cli->options, "opaque") &&
			 (options_given(&cli->options, "thin") || options_given(&cli->options, "arch") ||
			  options_given(&cli->options, "package")))
		(void)error_set(&err, JW_ERR_USAGE, "--opaque takes the whole directory as it is");
	else
		return EXIT_DONE;
	return cli_fail(cli, &err);
}

/* What the pack is made of beside the cache: the files of --package, or, where a thin one is
 * wanted, those of the whole environment. */
struct chosen {
	struct jw_found *found; /* NULL where no file was asked for */
	struct jw_pack_file *files;
	const char **paths; /* of --package */
	size_t path_count;
};

static void chosen_free(struct chosen *chosen)
{
	mem_free(chosen->paths);
	jw_pack_files_free(chosen->files);
	jw_found_free(chosen->found);
}

static int choose_files(struct jw_error *err, const struct cli *cli, struct chosen *chosen)
{
	size_t count = options_count(&cli->options, "package");
	const char **names;
	int result;

	if (!count && !options_given(&cli->options, "thin"))
		return 0;
	names = mem_array(err, count, sizeof *names);
	if (!names)
		return -1;
	for (size_t i = 0; i < count; i++)
		names[i] = options_item(&cli->options, "package", i);
	result = jw_find(
		err, &(struct jw_find_options){.names = names, .name_count = count, .cancel = cli_cancel},
		&chosen->found);
	mem_free(names);
	if (result)
		return -1;
	if (!chosen->found->file_count)
		return error_set(err, JW_ERR_NOT_FOUND,
						 "there are no files with device code in what was named");
	found_print_notes(&cli->out, chosen->found);
	if (jw_pack_files(err, chosen->found, &chosen->files))
		return -1;
	chosen->paths = mem_array(err, chosen->found->file_count, sizeof *chosen->paths);
	for (size_t i = 0; chosen->paths && i < chosen->found->file_count; i++)
		chosen->paths[i] = chosen->found->files[i].path;
	chosen->path_count = count ? chosen->found->file_count : 0;
	return chosen->paths ? 0 : -1;
}

static enum exit_status export_run(struct cli *cli)
{
	const struct options *given = &cli->options;
	const char *file = options_value(given, "output");
	bool to_stdout = file && !strcmp(file, "-");
	const struct jw_system_options how = {.asleep = true,
										  .cache_dir = options_value(given, "cache")};
	struct jw_target targets[MOST_TARGETS];
	struct jw_export_options options = {
		.cache_dir = options_value(given, "cache"),
		.targets = targets,
		.all_drivers = options_given(given, "all"),
		.output = to_stdout ? NULL
				  : file    ? file
							: "jitwarm.jwpack",
		.output_fd = STANDARD_OUTPUT,
		.best = options_given(given, "best"),
		.thin = options_given(given, "thin"),
		.opaque = options_given(given, "opaque"),
		.cancel = cli_cancel,
	};
	char passphrase[PASSPHRASE_SIZE] = "";
	struct jw_export_result result;
	struct jw_system *system = NULL;
	struct chosen chosen = {0};
	struct jw_error err = {0};
	enum exit_status status = check_usage(cli);

	if (status != EXIT_DONE)
		return status;
	os_catch_interrupts();
	if (read_targets(&err, given, targets, &options.target_count) ||
		jw_system_open(&err, &how, &system))
		return cli_fail(cli, &err);
	options.system = system;
	options.state_dir = system->state_dir;
	if (choose_files(&err, cli, &chosen)) {
		chosen_free(&chosen);
		jw_system_free(system);
		return cli_fail(cli, &err);
	}
	options.paths = chosen.paths;
	options.path_count = chosen.path_count;
	options.files = chosen.files;
	options.file_count = options.thin && chosen.found ? chosen.found->file_count : 0;
	if (pack_report_sign(&err, given, &options, passphrase))
		status = cli_fail(cli, &err);
	else if (jw_export(&err, &options, &result)) {
		status = err.code == JW_ERR_NOT_FOUND && !options.cache_dir
					 ? cli_fail_as(cli, EXIT_CANNOT, &err)
					 : cli_fail(cli, &err);
	} else if (!to_stdout) {
		pack_report_print(&cli->out, options.output, &result);
		if (options.thin && !result.thin_modules)
			output_warning(&cli->out, "none of the modules stands in a file that was looked into: "
									  "the pack holds all of its PTX");
		if (document_print(&err, &cli->out, &document_export,
						   &(struct export_document){.file = options.output, .result = result}))
			status = cli_fail(cli, &err);
	}
	passphrase_forget(passphrase);
	chosen_free(&chosen);
	jw_system_free(system);
	return status;
}

static const struct cli_option export_options[] = {
	CLI_VALUE("output", "FILE",
			  "Write the pack there instead of jitwarm.jwpack; “-”: to standard output",
			  .letter = 'o'),
	CLI_VALUE("cache", "DIR",
			  "Take the entries of this directory instead of the one that the driver uses"),
	CLI_LIST("arch", "SM",
			 "Only entries for GPUs of this compute capability (sm_86); may be repeated"),
	CLI_LIST("package", "NAME|PATH",
			 "Only entries of the modules in this package or file; may be repeated"),
	CLI_FLAG("all", "Entries of other drivers than this machine's too"),
	CLI_FLAG("thin", "Without the PTX that stands in files of --package, or of the active "
					 "environment: “jitwarm import” takes it from the same files there"),
	CLI_FLAG("opaque",
			 "The whole directory, byte for byte, for machines with the very same driver; so it is "
			 "by itself where the form of this driver's cache is not known"),
	CLI_FLAG("best", "As small as can be: a third smaller, at forty times the time"),
	PACKING_SIGN_OPTIONS,
	{0}};

const struct cli_command command_export = {
	.name = "export",
	.summary = "Write the driver's cache into a pack for other machines",
	.usage = "[-o FILE] [--package NAME]… [--arch SM]… [OPTION]…",
	.description =
		"Writes the entries of the driver's JIT cache into one compressed file, a pack, which "
		"“jitwarm import” adds to the cache of another machine. Each PTX module and each cubin is "
		"stored once, however many entries share it. The same entries give the same bytes. It is a "
		"tar archive in zstd frames, which “tar --zstd -tf” lists.\n\n"
		"Where the machine's driver is known, entries of other drivers are left out: nothing looks "
		"for them any more. So are damaged entries, OpenCL's, and what “prime --carry-over” has "
		"taken from an older driver.\n\n"
		"A thin pack (--thin) is for machines that have the same framework: of each module it has "
		"the hash, and the package, version, file and offset where it was found. Modules that are "
		"in no file here, such as NVRTC's, are in the pack.\n\n"
		"An opaque pack (--opaque) knows nothing of entries: it holds the files of the directory, "
		"for an empty one elsewhere, under the same driver, system and GPU architecture.\n\n"
		"Exit status: 0 where the pack was written, 2 where there is no cache to export, 3 on "
		"failure.",
	.options = export_options,
	.run = export_run,
};
