#include "cli/documents/documents.h"

int document_print(struct jw_error *err, struct output *out, const struct json_table *document,
				   const void *values)
{
	cJSON *made;

	if (!out->json)
		return 0;
	made = json_object(err, document, values);
	return made ? output_json(err, out, made) : -1;
}
