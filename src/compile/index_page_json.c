#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "compile/index_page.h"

static bool is_sha256(const char *hex)
{
	return strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64;
}

/* “yanked” is false, true, or the reason. */
static bool is_yanked(const cJSON *row)
{
	return json_bool(row, "yanked", false) || *json_text(row, "yanked", "");
}

static int read_row(struct jw_error *err, const cJSON *row, const struct index_reader *reader)
{
	const cJSON *hashes = cJSON_GetObjectItemCaseSensitive(row, "hashes");
	const char *hash = json_text(hashes, "sha256", "");
	struct index_file file = {.name = json_text(row, "filename", ""),
							  .base = "",
							  .url = json_text(row, "url", ""),
							  .sha256 = is_sha256(hash) ? hash : NULL,
							  .yanked = is_yanked(row)};

	if (!*file.name || !*file.url || strlen(file.url) > INDEX_PAGE_MOST_TEXT ||
		strlen(file.name) > INDEX_PAGE_MOST_TEXT || strpbrk(file.name, "/\\\t\n") ||
		!text_is_utf8(file.name, strlen(file.name)))
		return 0;
	return reader->file(err, reader->context, &file);
}

int index_page_read_json(struct jw_error *err, const char *text, size_t size,
						 const struct index_reader *reader)
{
	cJSON *document = json_parse(err, text, size);
	const cJSON *files = cJSON_GetObjectItemCaseSensitive(document, "files"), *row;
	const char *version =
		json_text(cJSON_GetObjectItemCaseSensitive(document, "meta"), "api-version", "");
	int result = 0;

	if (!document)
		return -1;
	if (!cJSON_IsArray(files) || !text_starts(version, "1."))
		result = error_set(err, JW_ERR_FORMAT, "not a project's page of API version 1 (PEP 691)");
	else
		cJSON_ArrayForEach(row, files) if ((result = read_row(err, row, reader))) break;
	cJSON_Delete(document);
	return result;
}
