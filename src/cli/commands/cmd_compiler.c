/* jitwarm compiler: NVIDIA's ptxas, for machines without a GPU. */
#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/documents/documents.h"

static int fetch(struct jw_error *err, struct cli *cli, struct compiler_document *fetched)
{
	const struct options *options = &cli->options;

	if (!options->operand_count)
		return error_set(err, JW_ERR_USAGE, "which CUDA version? (12.4)");
	fetched->rows = mem_array(err, options->operand_count, sizeof *fetched->rows);
	for (size_t i = 0; fetched->rows && i < options->operand_count; i++) {
		struct compiler_row *row = &fetched->rows[i];

		row->version = options->operands[i];
		if (jw_compiler_fetch(err, row->version, &row->path))
			return -1;
		fetched->count++;
		output_line(&cli->out, STYLE_PLAIN, "%s", row->path);
	}
	return fetched->rows ? document_print(err, &cli->out, &document_compiler, fetched) : -1;
}

static enum exit_status fetch_run(struct cli *cli)
{
	struct compiler_document fetched = {0};
	struct jw_error err = {0};
	enum exit_status status = fetch(&err, cli, &fetched) ? cli_fail(cli, &err) : EXIT_DONE;

	for (size_t i = 0; i < fetched.count; i++)
		mem_free(fetched.rows[i].path);
	mem_free(fetched.rows);
	return status;
}

const struct cli_command command_compiler_fetch = {
	.name = "compiler fetch",
	.summary = "Get NVIDIA's ptxas of a CUDA version",
	.usage = "VERSION…",
	.description =
		"Gets the compiler with which “jitwarm prime --target” makes what a driver would make: the "
		"ptxas of CUDA VERSION (12.4, or 12.4.131), out of NVIDIA's Python wheel, by python's pip. "
		"Nothing is installed: it is kept in $JITWARM_PTXAS, else ~/.cache/jitwarm/ptxas, on "
		"Windows "
		"%LOCALAPPDATA%\\jitwarm\\ptxas, and its path is printed. One that is there is not fetched "
		"again.",
	.run = fetch_run,
};
