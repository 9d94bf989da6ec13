/* METADATA and RECORD of wheels get another version: only the necessary changes are made. The input
 * is METADATA up to a NUL, and RECORD after it. */
#include <stdlib.h>
#include <string.h>

#include "bake/wheel_edit.h"
#include "base/mem.h"

enum { MOST = 1 << 20 };

#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

static int take_row(struct jw_error *err, void *context, const char *path, const char *row)
{
	(void)err;
	++*(size_t *)context;
	MUST(*path && *row);
	return 0;
}

static void check_record(const struct buf *record)
{
	size_t rows = 0;

	if (!wheel_record_rows(NULL, record, take_row, &rows))
		MUST(rows <= record->size);
}

static void check_metadata(const struct buf *metadata)
{
	static const struct jw_target gpus[] = {{.sm = 86}, {.sm = 90, .suffix = 'a'}};
	char *old = wheel_edit_old_version(NULL, metadata);
	char *version = old ? wheel_edit_version(NULL, old, gpus, 2) : NULL, *again, *name, *stem;
	struct buf text = BUF_MAX(MOST);

	if (version) {
		MUST(strstr(version, "jitwarm") && strstr(version, ".sm86") && strstr(version, ".sm90a"));
		MUST(!wheel_edit_metadata(NULL, metadata, version, &text));
		MUST(text.size == metadata->size - strlen(old) + strlen(version));
		again = wheel_edit_old_version(NULL, &text);
		MUST(again && !strcmp(again, version));
		mem_free(again);
		again = wheel_edit_version(NULL, version, gpus, 2);
		MUST(again && !strcmp(again, version));
		mem_free(again);
		name = mem_printf("x-%s-py3-none-any.whl", old);
		stem = wheel_edit_file_name(NULL, name, old, version);
		MUST(!stem || !strchr(stem, '/') || strchr(old, '/'));
		mem_free(name);
		mem_free(stem);
	}
	buf_free(&text);
	mem_free(version);
	mem_free(old);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	const size_t split = nul ? (size_t)(nul - data) : size;
	struct buf metadata = BUF_MAX(MOST), record = BUF_MAX(MOST);

	if (!buf_append(NULL, &metadata, data, split) &&
		(!nul || !buf_append(NULL, &record, nul + 1, size - split - 1))) {
		check_metadata(&metadata);
		check_record(&record);
	}
	buf_free(&metadata);
	buf_free(&record);
	return 0;
}
