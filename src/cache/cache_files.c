#include "cache/cache_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/shape.h"
#include "os/file.h"

struct cache_walk {
	const char *dir;
	const char *names[3]; /* of the levels, as far as we are */
	bool closed;          /* files are not opened */
	struct cache_files scan;
};

static int add_cache_file(struct jw_error *err, struct cache_walk *walk, const char *path,
						  uint64_t key)
{
	struct cache_files *scan = &walk->scan;
	struct cache_file file = {.key = key};
	struct os_stat stat = {.kind = OS_OTHER};
	enum cache_presence presence = CACHE_PRESENT;
	struct jw_error why = {0};

	if (!walk->closed && cache_look_up(err, walk->dir, key, 0, &file.probed, &presence))
		return -1;
	/* Removed meanwhile, or a dangling link. */
	if (walk->closed ? os_stat(&why, path, &stat) && why.code == JW_ERR_NOT_FOUND
					 : presence == CACHE_ABSENT)
		return 0;
	if (walk->closed)
		file.probed = (struct cache_probed){.size_bytes = stat.size_bytes,
											.inode = stat.inode,
											.mtime_ns = stat.mtime_ns,
											.changed_ns = stat.changed_ns,
											.damage = stat.kind == OS_REGULAR ? CACHE_SOUND
																			  : CACHE_DAMAGE_READ};
	else if (file.probed.damage == CACHE_SOUND)
		file.row_bytes = file.probed.key_bytes + file.probed.value_bytes;
	if (VEC_ROOM(err, scan->files, scan->capacity, scan->count, CACHE_MOST_FILES))
		return error_prefix(err, "%s", walk->dir);
	scan->files[scan->count++] = file;
	return 0;
}

static int walk_cache_level(struct jw_error *err, struct cache_walk *walk, const char *path,
							size_t level);

/* One name: a folder to enter, an entry, or something foreign. */
static int walk_cache_name(struct jw_error *err, struct cache_walk *walk, const char *path,
						   size_t level, const char *name, enum os_kind kind)
{
	static const char *const filler[] = {"0", "0", "00000000000000"};
	uint64_t key;
	char *below;
	int result;

	walk->names[level] = name;
	for (size_t i = level + 1; i < 3; i++)
		walk->names[i] = filler[i];
	if (!cache_entry_key(walk->names[0], walk->names[1], walk->names[2], &key) ||
		(level < 2 && kind != OS_DIRECTORY)) {
		walk->scan.foreign++;
		return 0;
	}
	below = os_join(err, path, name);
	result = !below       ? -1
			 : level == 2 ? add_cache_file(err, walk, below, key)
						  : walk_cache_level(err, walk, below, level + 1);
	mem_free(below);
	return result;
}

static int walk_cache_level(struct jw_error *err, struct cache_walk *walk, const char *path,
							size_t level)
{
	struct os_names names;
	int result = 0;

	if (os_list(err, path, &names)) {
		/* A folder that a driver has removed meanwhile counts as empty. */
		return level && err && err->code == JW_ERR_NOT_FOUND ? 0 : -1;
	}
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *name = names.items[i];

		if (!level && (!strcmp(name, "index") || !strcmp(name, CACHE_WITNESS) ||
					   text_starts(name, CACHE_STAGING_PREFIX)))
			continue;
		result = walk_cache_name(err, walk, path, level, name, names.kinds[i]);
	}
	os_names_free(&names);
	return result;
}

static int walk_cache(struct jw_error *err, struct cache_walk walk, struct cache_files *ret_scan)
{
	struct jw_error why = {0};

	if (walk_cache_level(&why, &walk, walk.dir, 0)) {
		cache_files_free(&walk.scan);
		return error_copy(err, &why);
	}
	*ret_scan = walk.scan; /* names are sorted, and therefore keys */
	return 0;
}

int cache_files_scan(struct jw_error *err, const char *dir, struct cache_files *ret_scan)
{
	return walk_cache(err, (struct cache_walk){.dir = dir}, ret_scan);
}

int cache_files_sizes(struct jw_error *err, const char *dir, struct cache_files *ret_scan)
{
	return walk_cache(err, (struct cache_walk){.dir = dir, .closed = true}, ret_scan);
}

void cache_files_free(struct cache_files *scan)
{
	mem_free(scan->files);
	*scan = (struct cache_files){0};
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
