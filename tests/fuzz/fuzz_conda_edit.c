/* index.json and paths.json of conda packages with other values: the result is JSON with these
 * values. The input is index.json up to a NUL, and paths.json behind it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "package/conda_edit.h"

enum { MOST = 1 << 22 };

#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

static void check_index(const struct buf *index)
{
	struct buf text = BUF_MAX(MOST);

	if (!conda_edit_index(NULL, index, "b_jitwarm_sm86", &text)) {
		cJSON *before = json_parse(NULL, buf_text(index), index->size);
		cJSON *after = json_parse(NULL, buf_text(&text), text.size);

		MUST(before && after && !strcmp(json_text(after, "build", ""), "b_jitwarm_sm86"));
		MUST(cJSON_GetArraySize(before) == cJSON_GetArraySize(after));
		cJSON_DeleteItemFromObjectCaseSensitive(before, "build");
		cJSON_DeleteItemFromObjectCaseSensitive(after, "build");
		MUST(cJSON_Compare(before, after, true));
		cJSON_Delete(before);
		cJSON_Delete(after);
	}
	buf_free(&text);
}

static void check_paths(const struct buf *paths)
{
	/* 32 zeros are its old hash. */
	struct conda_change changes[] = {{.path = (char[]){"lib/a.so"}, .size_bytes = 12345}};
	struct buf text = BUF_MAX(MOST), none = BUF_MAX(MOST);

	memset(changes[0].sha256, 0xab, 32);
	if (!conda_edit_paths(NULL, paths, changes, 1, &text)) {
		cJSON *after = json_parse(NULL, buf_text(&text), text.size);

		MUST(after && strstr(buf_text(&text), "\"abababababababab") &&
			 strstr(buf_text(&text), "12345"));
		cJSON_Delete(after);
	}
	if (!conda_edit_paths(NULL, paths, NULL, 0, &none))
		MUST(none.size == paths->size && !memcmp(none.data, paths->data, none.size));
	buf_free(&text);
	buf_free(&none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	const size_t split = nul ? (size_t)(nul - data) : size;
	struct buf index = BUF_MAX(MOST), paths = BUF_MAX(MOST);

	if (!buf_append(NULL, &index, data, split) &&
		(!nul || !buf_append(NULL, &paths, nul + 1, size - split - 1))) {
		check_index(&index);
		check_paths(&paths);
	}
	buf_free(&index);
	buf_free(&paths);
	return 0;
}
