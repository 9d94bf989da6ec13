/* The documents that --json prints, as tables (base/json_table.h): docs/json.md and the schemas in
 * data/schemas are made from them by scripts/make-documents.sh. To add one, write its table here
 * and name it in tests/documents/reference.c. */
#ifndef JW_CLI_DOCUMENTS_DOCUMENTS_H
#define JW_CLI_DOCUMENTS_DOCUMENTS_H

#include "base/json_table.h"
#include "cli/output.h"

/* Prints a document where --json asks for it. `values` is the struct that the table is about. */
int document_print(struct jw_error *err, struct output *out, const struct json_table *document,
				   const void *values);

extern const struct json_table document_compiler; /* struct compiler_document */
extern const struct json_table document_key;      /* struct jw_keys */

struct compiler_document {
	struct compiler_row {
		const char *version;
		char *path;
	} * rows;
	size_t count;
};

#endif
