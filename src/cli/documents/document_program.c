/* error, version, compiler */
#include "cli/documents/documents.h"
#include "cli/exit.h"

static const char *say_code(char room[JSON_ROOM], const void *code)
{
	(void)room;
	return exit_code_name(*(const enum jw_code *)code);
}

static const struct json_field error_fields[] = {
	JSON_AS("error", struct jw_error, message, "the message of standard error, one line"),
	JSON_SAID("code", struct jw_error, code, say_code,
			  "`usage`, `not_found`, `io`, `format`, `limit`, `memory`, `unsupported`, `driver`, "
			  "`busy` or `interrupted`"),
	{0},
};
const struct json_table document_error = {
	.schema = "jitwarm.error/1",
	.text = "Instead of any other document where a command fails.",
	.fields = error_fields,
};

/* ---- version */

static const struct json_field library_fields[] = {
	JSON_AS("zstd", struct jw_component, name, NULL),
	JSON(struct jw_component, version, NULL),
	{0},
};

static const struct json_field version_fields[] = {
	JSON(struct version_document, version, "of jitwarm"),
	JSON(struct version_document, platform, "`x86_64-linux`"),
	JSON(struct version_document, compiler, "`gcc 12.2.0`"),
	JSON(struct version_document, build_type, "with the sanitizers, where there are any"),
	JSON_MAP_OF("libraries", struct version_document, libraries, library_count,
				JSON_TABLE(struct jw_component, library_fields), "their versions by name"),
	{0},
};
const struct json_table document_version = {
	.schema = "jitwarm.version/1",
	.text = "`jitwarm --version --json`.",
	.fields = version_fields,
};

/* ---- compiler */

static const struct json_field compiler_fields[] = {
	JSON(struct compiler_row, version, "the CUDA version as it was asked for"),
	JSON(struct compiler_row, path, "its ptxas"),
	{0},
};

static const struct json_field compilers_fields[] = {
	JSON_LIST_OF("compilers", struct compiler_document, rows, count,
				 JSON_TABLE(struct compiler_row, compiler_fields), "in the order of the arguments"),
	{0},
};
const struct json_table document_compiler = {
	.schema = "jitwarm.compiler/1",
	.text = "`jitwarm compiler fetch`.",
	.fields = compilers_fields,
};
