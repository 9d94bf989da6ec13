#include "cache/view.h"

#include <uv.h>

#include "base/mem.h"
#include "cache/settings.h"
#include "os/file.h"

/* An index that is being written looks unsound for a few milliseconds. */
enum { LOOKS = 4, LOOK_MS = 10 };

static int find_cache_directory(struct jw_error *err, const struct jw_cache_options *options,
								char **ret_path, uint64_t *ret_limit_bytes, bool *ret_exists)
{
	struct cache_settings settings;
	struct os_stat stat;
	int result = -1;

	if (cache_settings_read(err, options->path, NULL, &settings))
		return -1;
	if (!settings.path) {
		error_set(err, JW_ERR_UNSUPPORTED, "%s",
				  settings.warning_count ? settings.warnings[0] : "the driver caches nothing");
		goto done;
	}
	if (os_look(err, settings.path, ret_exists))
		goto done;
	if (*ret_exists || options->path) {
		if (os_stat(err, settings.path, &stat))
			goto done;
		if (stat.kind != OS_DIRECTORY) {
			error_set(err, JW_ERR_FORMAT, "%s: not a directory", settings.path);
			goto done;
		}
	}
	*ret_limit_bytes = options->limit_bytes ? options->limit_bytes : settings.limit_bytes;
	*ret_path = settings.path;
	settings.path = NULL;
	result = 0;
done:
	cache_settings_free(&settings);
	return result;
}

int cache_view_index(struct jw_error *err, const char *dir, struct cache_index *ret_index)
{
	for (int looks = 1;; looks++) {
		if (cache_index_load(err, dir, ret_index))
			return -1;
		/* Only a file may be complete a moment later. */
		if (ret_index->state <= CACHE_INDEX_MISSING || ret_index->state >= CACHE_INDEX_DEVICE ||
			looks == LOOKS)
			return 0;
		cache_index_free(ret_index);
		uv_sleep(LOOK_MS);
	}
}

int cache_view_open(struct jw_error *err, const struct jw_cache_options *options,
					cache_files_fn look, char **ret_path, uint64_t *ret_limit_bytes,
					struct cache_files *ret_scan, struct cache_index *ret_index)
{
	struct cache_files scan = {0};
	struct cache_index index = {.state = CACHE_INDEX_MISSING};
	uint64_t limit_bytes = 0;
	char *path = NULL;
	bool exists = false;

	if (find_cache_directory(err, options, &path, &limit_bytes, &exists))
		return -1;
	if (exists && (look(err, path, &scan) || cache_view_index(err, path, &index)))
		goto fail;
	if (scan.foreign && !scan.count && index.state != CACHE_INDEX_SOUND) {
		error_set(err, JW_ERR_FORMAT, "%s: not a driver's cache: it has no entries and no index",
				  path);
		goto fail;
	}
	*ret_path = path;
	*ret_limit_bytes = limit_bytes;
	*ret_scan = scan;
	*ret_index = index;
	return 0;
fail:
	cache_files_free(&scan);
	cache_index_free(&index);
	mem_free(path);
	return -1;
}

int cache_index_map(struct jw_error *err, const struct cache_index *index, struct set *ret_rows)
{
	struct set rows = {0};

	for (size_t i = 0; i < index->count; i++) {
		size_t cursor = 0;

		if (set_find(&rows, index->rows[i].key, &cursor) != SET_NONE)
			continue;
		if (set_add(err, &rows, index->rows[i].key, i)) {
			set_free(&rows);
			return -1;
		}
	}
	*ret_rows = rows;
	return 0;
}
