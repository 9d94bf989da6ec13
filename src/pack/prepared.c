#include "pack/prepared.h"

#include "base/mem.h"
#include "os/clock.h"
#include "os/file.h"

enum { MAX_PREPARED = 1 << 16 };

cJSON *prepared_read(const char *state_dir, int64_t most_age_s)
{
	char *path = state_dir ? os_join(state_dir, "ahead.json") : NULL;
	struct buf text = {0};
	struct os_stat stat;
	cJSON *document = NULL;

	if (path && !os_stat(NULL, path, &stat) &&
		(!most_age_s || stat.mtime_ns / 1000000000 > os_now_s() - most_age_s) &&
		!os_read_file(NULL, path, MAX_PREPARED, &text))
		document = json_parse(NULL, buf_text(&text), text.size);
	buf_free(&text);
	mem_free(path);
	return document;
}
