#include "cli/documents/documents.h"

int document_print(struct output *out, const struct json_table *document, const void *values)
{
	cJSON *made;

	if (!out->json)
		return 0;
	made = json_object(document, values);
	output_json(out, made);
	cJSON_Delete(made);
	return 0;
}

const char *document_sm(char room[JSON_ROOM], const void *target)
{
	const struct jw_target *given = target;

	return given->sm ? jw_target_sm(room, *given) : "";
}

const char *document_driver(char room[JSON_ROOM], const void *driver)
{
	_Static_assert(JW_DRIVER_TEXT <= JSON_ROOM, "a driver's text");
	return jw_driver_text(room, driver);
}

const char *document_verdict(char room[JSON_ROOM], const void *verdict)
{
	(void)room;
	return jw_verdict_name(*(const enum jw_verdict *)verdict);
}

double document_seconds(const void *ns)
{
	return (double)*(const uint64_t *)ns / 1e9;
}

double document_whole_seconds(const void *ns)
{
	const int64_t seconds = *(const int64_t *)ns / 1000000000;

	return (double)seconds;
}
