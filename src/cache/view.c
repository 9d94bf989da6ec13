#include "cache/view.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/settings.h"
#include "os/file.h"

struct cache_walk {
	const char *dir;
	const char *names[3]; /* the names of the levels that were entered */
	bool headers;         /* open each entry and read its header */
	const struct jw_cancel *cancel;
	struct cache_files scan;
};

static int add_cache_file(struct jw_error *err, struct cache_walk *walk, const char *path,
						  uint64_t key)
{
	struct cache_files *scan = &walk->scan;
	struct cache_file file = {.key = key};
	struct jw_error why = {0};

	/* In both branches, an absent entry was removed meanwhile, or is a dangling link. */
	if (walk->headers) {
		if (cache_presence(walk->dir, key, NULL, &file.probed) == CACHE_ABSENT)
			return 0;
		if (file.probed.damage == CACHE_SOUND)
			file.row_bytes = file.probed.key_bytes + file.probed.value_bytes;
	} else {
		struct os_stat *stat = &file.probed.stat;

		stat->kind = OS_OTHER;
		if (os_stat(&why, path, stat) && why.code == JW_ERR_NOT_FOUND)
			return 0;
		if (stat->kind != OS_REGULAR)
			file.probed.damage =
				stat->kind == OS_DIRECTORY ? CACHE_DAMAGE_FOLDER : CACHE_DAMAGE_READ;
	}
	if (VEC_ROOM(err, scan->files, scan->capacity, scan->count, CACHE_MAX_FILES))
		return error_prefix(err, "%s", walk->dir);
	scan->files[scan->count++] = file;
	return 0;
}

/* Sorts the names of a folder into folders to enter, entries, and foreign files. */
static int walk_cache_level(struct jw_error *err, struct cache_walk *walk, const char *path,
							size_t level)
{
	static const char *const filler[] = {"0", "0", "00000000000000"};
	struct os_names names;
	int result = 0;

	if (os_list(err, path, &names)) {
		/* A folder that a driver has removed meanwhile counts as empty. */
		return level && err->code == JW_ERR_NOT_FOUND ? 0 : -1;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i];
		uint64_t key;
		char *below;

		if (!level && (!strcmp(name, "index") || text_starts(name, CACHE_STAGING_PREFIX)))
			continue;
		walk->names[level] = name;
		for (size_t j = level + 1; j < 3; j++)
			walk->names[j] = filler[j];
		if (!cache_entry_key(walk->names[0], walk->names[1], walk->names[2], &key) ||
			(level < 2 && names.kinds[i] != OS_DIRECTORY)) {
			walk->scan.foreign++;
			continue;
		}
		below = os_join(path, name);
		result = cancel_check(err, walk->cancel);
		if (!result)
			result = level == 2 ? add_cache_file(err, walk, below, key)
								: walk_cache_level(err, walk, below, level + 1);
		mem_free(below);
	}
	os_names_free(&names);
	return result;
}

int cache_files_scan(struct jw_error *err, const char *dir, bool headers,
					 const struct jw_cancel *cancel, struct cache_files *ret_scan)
{
	struct cache_walk walk = {.dir = dir, .headers = headers, .cancel = cancel};
	struct jw_error why = {0};

	if (walk_cache_level(&why, &walk, dir, 0)) {
		cache_files_free(&walk.scan);
		return error_copy(err, &why);
	}
	*ret_scan = walk.scan; /* names are sorted, and therefore keys, too */
	return 0;
}

bool cache_file_key(const char *dir, const struct cache_file *file, struct buf *key)
{
	char *path = cache_entry_path(dir, file->key);
	const size_t size = (size_t)file->probed.key_bytes;
	struct os_file *open = NULL;
	size_t got = 0;
	bool read;

	buf_clear(key);
	read = file->probed.key_bytes <= CACHE_MAX_ENTRY &&
		   !os_file_open(NULL, path, OS_OPEN_READ, &open) && !buf_reserve(NULL, key, size) &&
		   !os_file_read(NULL, open, CACHE_ENTRY_HEADER, key->data, size, &got) && got == size;
	if (read)
		key->size = size;
	os_file_close(open);
	mem_free(path);
	return read;
}

void cache_files_free(struct cache_files *scan)
{
	mem_free(scan->files);
	*scan = (struct cache_files){0};
}

uint64_t cache_file_counts(const struct cache_file *file)
{
	return file->probed.damage == CACHE_SOUND && file->probed.stat.size_bytes > CACHE_ENTRY_HEADER
			   ? file->probed.stat.size_bytes - CACHE_ENTRY_HEADER
			   : 0;
}

static int compare_key(const void *key, const void *file)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct cache_file *)file)->key;

	return a < b ? -1 : a > b;
}

const struct cache_file *cache_files_find(const struct cache_files *scan, uint64_t key)
{
	if (!scan->count)
		return NULL;
	return bsearch(&key, scan->files, scan->count, sizeof *scan->files, compare_key);
}

/* An index that is being written looks unsound for a few milliseconds, so it is read several
 * times. */
enum { READS = 4, POLL_MS = 10 };

/* Sets path and limit. */
static int find_cache_directory(struct jw_error *err, const struct jw_cache_options *options,
								struct cache_view *view, bool *ret_exists)
{
	void *owner = arena_open(0);
	struct jw_cache_info settings;
	struct os_stat stat;
	int result = -1;

	if (cache_settings_read(err, owner, options->path, &settings))
		goto done;
	if (!settings.path) {
		error_set(err, JW_ERR_UNSUPPORTED, "%s",
				  settings.warning_count ? settings.warnings[0] : "the driver caches nothing");
		goto done;
	}
	if (os_check_exists(err, settings.path, ret_exists))
		goto done;
	if (*ret_exists || options->path) {
		if (os_stat(err, settings.path, &stat))
			goto done;
		if (stat.kind != OS_DIRECTORY) {
			error_set(err, JW_ERR_FORMAT, "%s: not a directory", settings.path);
			goto done;
		}
	}
	view->limit_bytes = options->limit_bytes ? options->limit_bytes : settings.limit_bytes;
	view->path = mem_string(settings.path);
	result = 0;
done:
	jw_result_free(owner);
	return result;
}

/* Returns whether the index looks as one does while it is written. */
static bool may_be_half_written(enum cache_index_state state)
{
	return state == CACHE_INDEX_EMPTY || state == CACHE_INDEX_TRUNCATED ||
		   state == CACHE_INDEX_VERSION;
}

int cache_view_index(struct jw_error *err, const char *dir, struct cache_index *ret_index)
{
	for (int looks = 1;; looks++) {
		if (cache_index_load(err, dir, ret_index))
			return -1;
		if (!may_be_half_written(ret_index->state) || looks == READS)
			return 0;
		cache_index_free(ret_index);
		uv_sleep(POLL_MS);
	}
}

bool cache_is_alien(const char *dir)
{
	struct cache_files files = {0};
	struct cache_index index = {0};
	const bool is = !cache_index_load(NULL, dir, &index) && index.alien &&
					!cache_files_scan(NULL, dir, false, NULL, &files) && !files.count;

	cache_files_free(&files);
	cache_index_free(&index);
	return is;
}

int cache_view_open(struct jw_error *err, const struct jw_cache_options *options, bool headers,
					struct cache_view *ret_view)
{
	struct cache_view view = {.index.state = CACHE_INDEX_MISSING};
	bool exists = false;

	if (find_cache_directory(err, options, &view, &exists))
		return -1;
	if (exists && (cache_files_scan(err, view.path, headers, NULL, &view.files) ||
				   cache_view_index(err, view.path, &view.index)))
		goto fail;
	if (!view.files.count &&
		(view.index.alien || (view.files.foreign && view.index.state != CACHE_INDEX_SOUND))) {
		error_set(err, JW_ERR_FORMAT, "%s: not a driver's cache: it has no entries and no index",
				  view.path);
		goto fail;
	}
	*ret_view = view;
	return 0;
fail:
	cache_view_free(&view);
	return -1;
}

void cache_view_free(struct cache_view *view)
{
	cache_files_free(&view->files);
	cache_index_free(&view->index);
	mem_free(view->path);
	*view = (struct cache_view){0};
}

struct set cache_index_map(const struct cache_index *index)
{
	struct set rows = {0};

	for (size_t i = 0; i < index->count; i++)
		if (!set_has(&rows, index->rows[i].key))
			set_add(&rows, index->rows[i].key, i);
	return rows;
}
