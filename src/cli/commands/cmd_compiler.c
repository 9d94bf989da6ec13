/* jitwarm compiler: NVIDIA's ptxas, for machines without a GPU. */
#include <jitwarm/compiler.h>

#include "base/mem.h"
#include "cli/command.h"

static int add_row(cJSON *array, const char *version, const char *path)
{
	cJSON *row = cJSON_CreateObject();

	(void)cJSON_AddStringToObject(row, "version", version);
	(void)cJSON_AddStringToObject(row, "path", path);
	return cJSON_AddItemToArray(array, row) ? 0 : -1;
}

static enum exit_status fetch_run(struct cli *cli)
{
	const struct options *options = &cli->options;
	cJSON *document = output_document("compiler");
	cJSON *array = document ? cJSON_AddArrayToObject(document, "compilers") : NULL;
	struct jw_error err = {0};
	char *path;

	if (!options->operand_count)
		error_set(&err, JW_ERR_USAGE, "which CUDA version? (12.4)");
	for (size_t i = 0; !err.code && i < options->operand_count; i++) {
		if (jw_compiler_fetch(&err, options->operands[i], &path))
			break;
		output_line(&cli->out, STYLE_PLAIN, "%s", path);
		(void)add_row(array, options->operands[i], path);
		mem_free(path);
	}
	if (err.code) {
		cJSON_Delete(document);
		return cli_fail(cli, &err);
	}
	return output_json(&err, &cli->out, document) ? cli_fail(cli, &err) : EXIT_DONE;
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
