/* error, version, compiler */
#include "cli/documents/documents.h"

static const char *const code_names[] = {
	[JW_OK] = "ok",
	[JW_ERR_USAGE] = "usage",
	[JW_ERR_NOT_FOUND] = "not_found",
	[JW_ERR_IO] = "io",
	[JW_ERR_FORMAT] = "format",
	[JW_ERR_LIMIT] = "limit",
	[JW_ERR_MEMORY] = "memory",
	[JW_ERR_UNSUPPORTED] = "unsupported",
	[JW_ERR_DRIVER] = "driver",
	[JW_ERR_BUSY] = "busy",
	[JW_ERR_INTERRUPTED] = "interrupted",
	[JW_ERR_INTERRUPTED + 1] = NULL,
};

static const struct json_field error_fields[] = {
	JSON_AS("error", struct jw_error, message, "the message of standard error, one line"),
	JSON(struct jw_error, code, "the kind of failure", .names = code_names),
	{0},
};
const struct json_table document_error = {
	.schema = "jitwarm.error/1",
	.text = "Instead of any other document where a command fails.",
	.fields = error_fields,
};

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
