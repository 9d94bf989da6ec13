/* cache-insert: inserts the entries of one cache into another, as prime does with its workers'
 * caches.
 *
 *     cache-insert FROM INTO SM [PAUSE-MS]
 *
 * Entries are inserted one by one, in the order of FROM's index, with a pause between them; the
 * last line gives counts. Exit status 0, or 1 with a line on standard error. */
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include "base/mem.h"
#include "cache/index.h"
#include "cache/insert.h"

static int insert_row(struct jw_error *err, struct cache_live *live, const char *from, uint64_t key,
					  uint16_t sm)
{
	struct cache_addition addition = {.key = key, .sm = sm, .form = CACHE_KEY_LOAD};
	char *path = cache_entry_path(err, from, key);
	int result;

	if (!path)
		return -1;
	addition.path = path;
	result = cache_insert(err, live, &addition, 1);
	if (!result && addition.added == CACHE_ADDED_REFUSED)
		result = error_set(err, addition.why.code, "%s: %s", path, addition.why.message);
	mem_free(path);
	return result;
}

static int insert_all(struct jw_error *err, const char *from, const char *into, uint16_t sm,
					  unsigned pause_ms)
{
	struct cache_live_options options = {.limit_bytes = UINT64_C(1) << 30};
	struct cache_live_counts counts;
	struct cache_live *live = NULL;
	struct cache_index index;
	int result = 0;

	if (cache_index_load(err, from, &index))
		return -1;
	if (cache_live_open(err, into, &options, &live)) {
		cache_index_free(&index);
		return -1;
	}
	for (size_t i = 0; !result && i < index.count; i++) {
		result = insert_row(err, live, from, index.rows[i].key, sm);
		if (pause_ms)
			uv_sleep(pause_ms);
	}
	cache_live_counts(live, &counts);
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	cache_index_free(&index);
	(void)printf("added %zu same %zu counted %zu dropped %zu restored %zu mended %d holds %llu "
				 "longest %.2f ms\n",
				 counts.added, counts.same, counts.counted, counts.dropped, counts.restored,
				 counts.mended, (unsigned long long)counts.holds,
				 (double)counts.longest_hold_ns / 1e6);
	return result;
}

int main(int argc, char **argv)
{
	struct jw_error err = {0};

	if (argc < 4) {
		(void)fprintf(stderr, "usage: cache-insert FROM INTO SM [PAUSE-MS]\n");
		return 64;
	}
	if (insert_all(&err, argv[1], argv[2], (uint16_t)strtoul(argv[3], NULL, 10),
				   argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0)) {
		(void)fprintf(stderr, "cache-insert: %s\n", err.message);
		return 1;
	}
	return 0;
}
