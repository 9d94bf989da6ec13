#include "cli/documents/documents.h"

static const struct json_field row_fields[] = {
	JSON(struct compiler_row, version, "the CUDA version as it was asked for"),
	JSON(struct compiler_row, path, "its ptxas"),
	{0},
};
static const struct json_table row_table = JSON_TABLE(struct compiler_row, row_fields);

static const struct json_field fields[] = {
	JSON_LIST_OF("compilers", struct compiler_document, rows, count, &row_table,
				 "in the order of the arguments"),
	{0},
};
const struct json_table document_compiler = {
	.schema = "jitwarm.compiler/1",
	.text = "`jitwarm compiler fetch`.",
	.fields = fields,
};
