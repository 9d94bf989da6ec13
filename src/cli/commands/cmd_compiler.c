/* jitwarm compiler: NVIDIA's ptxas, for machines without a GPU. */
#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/document.h"
#include "cli/progress.h"
#include "os/interrupt.h"

struct compiler_document {
	struct compiler_row {
		const char *version;
		char *path;
	} * rows;
	size_t count;
};

static const struct json_field compiler_fields[] = {
	JSON(struct compiler_row, version, "the CUDA version as it was asked for"),
	JSON(struct compiler_row, path, "the path of the fetched ptxas"),
	{0},
};

static const struct json_field compilers_fields[] = {
	JSON_LIST_OF("compilers", struct compiler_document, rows, count,
				 JSON_TABLE(struct compiler_row, compiler_fields),
				 "the fetched compilers, in the order of the arguments"),
	{0},
};
const struct json_table document_compiler = {
	.schema = "jitwarm.compiler/1",
	.text = "`jitwarm compiler fetch`.",
	.fields = compilers_fields,
};

static int fetch(struct jw_error *err, struct cli *cli, struct compiler_document *fetched)
{
	const struct options *options = &cli->options;

	if (!options->operand_count)
		return error_set(err, JW_ERR_USAGE, "name a CUDA version: “jitwarm compiler fetch 12.4”");
	fetched->rows = mem_array(options->operand_count, sizeof *fetched->rows);
	for (size_t i = 0; i < options->operand_count; i++) {
		struct compiler_row *row = &fetched->rows[i];
		struct fetching fetching = {.output = &cli->out, .label = options->operands[i]};
		const struct jw_compiler_fetch_options how = fetching_options(&fetching);
		int result;

		row->version = options->operands[i];
		result = jw_compiler_fetch(err, row->version, &how, &row->path);
		fetching_end(&fetching);
		if (result)
			return -1;
		fetched->count++;
		output_line(&cli->out, STYLE_PLAIN, "%s", row->path);
	}
	return document_print(&cli->out, &document_compiler, fetched);
}

static int compiler_fetch_run(struct jw_error *err, struct cli *cli)
{
	struct compiler_document fetched = {0};
	int result;

	os_catch_interrupts();
	result = fetch(err, cli, &fetched);
	for (size_t i = 0; i < fetched.count; i++)
		mem_free(fetched.rows[i].path);
	mem_free(fetched.rows);
	return result;
}

static const struct cli_option fetch_options[] = {PROGRESS_OPTION, {0}};

const struct cli_command command_compiler_fetch = {
	.name = "compiler fetch",
	.summary = "Download NVIDIA's compilers of a CUDA version",
	.usage = "VERSION…",
	.description =
		"Downloads NVIDIA's compiler ptxas of CUDA VERSION (12.4, or 12.4.131), "
		"which “--target” needs.\n\npip downloads NVIDIA's "
		"wheels, with its own configuration (PIP_INDEX_URL). jitwarm uses the pip of the active "
		"Python, else the pip of the Python on PATH, else the pip that one of them brings "
		"(ensurepip). "
		"Nothing is installed. The compilers are kept in $JITWARM_PTXAS, else in "
		"~/.cache/jitwarm/ptxas "
		"(Windows: %LOCALAPPDATA%\\jitwarm\\ptxas), and the path of ptxas is printed. A compiler "
		"that jitwarm already has is not fetched again.",
	.examples = "jitwarm compiler fetch 12.4\n",
	.options = fetch_options,
	.run = compiler_fetch_run,
};
