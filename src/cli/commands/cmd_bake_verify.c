/* jitwarm bake verify: whether the driver compiles anything of baked libraries. */
#include <jitwarm/bake.h>
#include <jitwarm/system.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/documents/documents.h"
#include "cli/parts/found_files.h"
#include "os/interrupt.h"

static void print_verified(struct cli *cli, const struct jw_bake_verified *file)
{
	const bool good = !file->entries && !file->compiler_opened && !file->refused && !file->too_old;
	char entries[TEXT_SHORT], driver[JW_DRIVER_TEXT];

	output_line(&cli->out, good ? STYLE_GOOD : STYLE_WARN, "%s: %s loaded, %s made%s", file->path,
				TEXT_COUNT(file->containers - file->too_old, "container", "containers"),
				text_count(entries, file->entries, "entry", "entries"),
				file->compiler_opened ? ", the compiler library opened"
									  : ", the compiler library not opened");
	if (file->refused)
		output_line(&cli->out, STYLE_BAD, "  %s: the driver does not load them",
					TEXT_COUNT(file->refused, "container", "containers"));
	if (file->too_old)
		output_line(
			&cli->out, STYLE_BAD,
			"  %s: the driver %s is too old for their code: a program that loads them fails",
			TEXT_COUNT(file->too_old, "container", "containers"),
			jw_driver_text(driver, &cli->system->driver.version));
	if (!good)
		cli_end_with(cli, EXIT_COLD);
}

static int verify_paths(struct jw_error *err, struct cli *cli, const char *const *paths,
						size_t count)
{
	struct jw_system_options how = {.size = sizeof how, .probe = true};
	struct jw_bake_verify_options options = {
		.size = sizeof options, .paths = paths, .path_count = count, .cancel = cli_cancel};
	struct jw_bake_verify_result *result;
	size_t troubles = 0;
	int failed;

	if (cli_worker(err, cli, &how.worker) || jw_system_open(err, &how, &cli->system))
		return -1;
	options.system = cli->system;
	os_catch_interrupts();
	if (jw_bake_verify(err, &options, &result))
		return cli_hopeless(err, cli, JW_ERR_NOT_FOUND);
	for (size_t i = 0; i < result->count; i++)
		if (!result->items[i].failed.code) {
			print_verified(cli, &result->items[i]);
		} else {
			output_warning(&cli->out, "%s", result->items[i].failed.message);
			troubles++;
		}
	cli_end_with(cli, exit_of_troubles(troubles, result->count - troubles));
	failed = document_print(err, &cli->out, &document_bake_verify, result);
	jw_bake_verify_result_free(result);
	return failed;
}

/* Without names: what was baked in its place and is still there. */
static int verify_baked(struct jw_error *err, struct cli *cli)
{
	struct jw_baked_list *list;
	const char **paths;
	size_t count = 0;
	int failed = -1;

	if (jw_baked_look(err, &list))
		return -1;
	paths = mem_array(err, list->count, sizeof *paths);
	for (size_t i = 0; paths && i < list->count; i++)
		if (!list->items[i].failed.code && list->items[i].state == JW_BAKED_SOUND)
			paths[count++] = list->items[i].path;
	if (paths && !count)
		output_line(&cli->out, STYLE_PLAIN, "no library is baked in its place");
	if (paths)
		failed = verify_paths(err, cli, paths, count);
	mem_free(paths);
	jw_baked_list_free(list);
	return failed;
}

static int bake_verify_run(struct jw_error *err, struct cli *cli)
{
	const struct options *options = &cli->options;
	struct found_files files = {0};
	int failed;

	if (!options->operand_count)
		return verify_baked(err, cli);
	failed = found_files_find(err, &cli->out, options->operands, options->operand_count, false,
							  &files) ||
			 verify_paths(err, cli, files.paths, files.count);
	if (!failed)
		found_files_end(cli, &files);
	found_files_free(&files);
	return failed ? -1 : 0;
}

static const struct cli_option bake_verify_options[] = {CLI_ENVIRONMENT, {0}};

const struct cli_command command_bake_verify = {
	.name = "bake verify",
	.summary = "Have the driver load baked libraries, and count what it compiles",
	.usage = "[PATH|PACKAGE]…",
	.description =
		"Has the driver load the device code of the named libraries, as the start of a program "
		"does, in a process with an empty cache for each library, and counts the entries that "
		"appear there: each is a compile. Also says whether the driver opened its compiler "
		"library, which it does to compile and to link. Without names: all libraries that were "
		"baked in their places and are as they were baked. The libraries themselves are not "
		"loaded.\n\nExit status: 1 where something is compiled, linked or refused, "
		"the driver is too old for it, a library cannot be read, or a name led to no file.",
	.options = bake_verify_options,
	.run = bake_verify_run,
};
