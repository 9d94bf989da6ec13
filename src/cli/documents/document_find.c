#include "cli/documents/documents.h"

static const struct json_field row_fields[] = {
	JSON_AS("kind", struct find_row, place.kind,
			"`venv`, `conda`, `pipx`, `uv`, `pyenv`, `Python` (another installation of it), "
			"`folder`, `program` or `process` (with `--pid`)"),
	JSON_AS("name", struct find_row, place.name,
			"the path of an environment or folder; the name of a program or package"),
	JSON_AS("environment", struct find_row, place.environment,
			"other commands take it by `--environment`; otherwise they take `paths`"),
	JSON_LINES_OF("paths", struct find_row, place.paths, place.path_count,
				  "absolute, without links"),
	JSON(struct find_row, files, "that may hold device code"),
	JSON(struct find_row, images, "files and members of archives with device code",
		 JSON_IF(struct find_row, judged)),
	JSON_SAID("verdict", struct find_row, verdict, document_verdict, "as in `check`",
			  JSON_IF(struct find_row, images)),
	JSON(struct find_row, warm, "modules in the cache", JSON_IF(struct find_row, judged)),
	JSON(struct find_row, cold, "modules that a start compiles, for all GPUs together",
		 JSON_IF(struct find_row, judged)),
	JSON(struct find_row, failing, "files with which a program fails: no code for a GPU",
		 JSON_IF(struct find_row, judged)),
	JSON_OBJECT_OF("start_seconds", struct find_row, start, &document_span,
				   "that a first start takes for the cold ones, on one core",
				   JSON_IF(struct find_row, judged)),
	JSON(struct find_row, trouble, "why it was not looked at, or not all of it",
		 .presence = JSON_UNLESS_NULL),
	{0},
};

static const struct json_field find_fields[] = {
	JSON_LIST_OF("places", struct find_document, rows, count,
				 JSON_TABLE(struct find_row, row_fields), "what costs most first"),
	JSON_LINES_OF("notes", struct find_document, places.notes, places.note_count,
				  "lines: what was left out, and why"),
	{0},
};
const struct json_table document_find = {.schema = "jitwarm.find/1", .fields = find_fields};
