/* From a worker's entry, which is not to be trusted, to a file that may be renamed into the cache.
 */
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/live.h"
#include "devcode/cubin.h"
#include "os/system.h"

/* Drivers accept bytes behind the value; nobody has seen any. */
enum { MOST_EXTRA = 4096 };

/* The driver does not heal an entry whose cubin it cannot load: the application fails with it at
 * every start (docs/driver-cache.md, "Values"). So each is looked at before it goes in. */
static int check_cubin(struct jw_error *err, const struct cache_addition *addition,
					   const struct cache_entry *entry)
{
	struct cubin_header cubin;
	bool link = addition->form == CACHE_KEY_LINK;

	if (cubin_read(err, entry->value, (size_t)entry->value_bytes, &cubin))
		return -1;
	if (cubin.sm != addition->sm)
		return error_set(err, JW_ERR_FORMAT, "its cubin is for sm_%u, not sm_%u",
						 (unsigned)cubin.sm, (unsigned)addition->sm);
	if (cubin.relocatable != link)
		return error_set(err, JW_ERR_FORMAT, "its cubin is %srelocatable",
						 cubin.relocatable ? "" : "not ");
	return 0;
}

static int check(struct jw_error *err, const struct cache_addition *addition, const void *bytes,
				 size_t size, struct cache_entry *ret_entry)
{
	enum cache_damage damage = cache_entry_verify(bytes, size, addition->key, ret_entry);

	if (damage != CACHE_SOUND)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
	if (addition->key_bytes && ret_entry->key_bytes != addition->key_bytes)
		return error_set(err, JW_ERR_FORMAT, "its key has %llu bytes, not %llu",
						 (unsigned long long)ret_entry->key_bytes,
						 (unsigned long long)addition->key_bytes);
	return check_cubin(err, addition, ret_entry);
}

/* Whether the file in place holds the same bytes. It is read, not mapped: a driver rewrites a
 * damaged entry in place. */
static bool same_file(const char *path, const void *bytes, size_t size)
{
	struct buf content = {0};
	bool same = !os_read_file(NULL, path, size + MOST_EXTRA, &content) && content.size >= size &&
				!memcmp(content.data, bytes, size);

	buf_free(&content);
	return same;
}

static int make_staging(struct jw_error *err, struct cache_live *live)
{
	if (!live->staging)
		live->staging = mem_printf(err, "%s/" CACHE_STAGING_PREFIX "%08x%08x", live->dir,
								   (unsigned)randombytes_random(), (unsigned)randombytes_random());
	return live->staging ? os_make_dirs(err, live->staging, 0700) : -1;
}

static int write_file(struct jw_error *err, const char *path, const void *bytes, size_t size)
{
	struct os_file *file = NULL;
	int result;

	if (os_file_open(err, path, OS_OPEN_CREATE, &file))
		return -1;
	result = os_file_write(err, file, 0, bytes, size);
	os_file_close(file);
	if (result)
		(void)os_remove(NULL, path);
	return result;
}

static int make_folder_of(struct jw_error *err, const char *target)
{
	char *folder = os_dir_name(err, target);
	int result = -1;

	if (folder)
		result = os_exists(folder) ? 0 : os_make_dirs(err, folder, 0700);
	mem_free(folder);
	return result;
}

static int stage_bytes(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
					   size_t number, const void *bytes, size_t size)
{
	if (same_file(staged->target, bytes, size))
		return 0;
	staged->replaces = os_exists(staged->target);
	if (make_staging(err, live) || make_folder_of(err, staged->target))
		return -1;
	staged->path = mem_printf(err, "%s/%zu", live->staging, number);
	if (!staged->path)
		return -1;
	return write_file(err, staged->path, bytes, size);
}

static void refuse(struct cache_live *live, struct cache_addition *addition)
{
	addition->added = CACHE_ADDED_REFUSED;
	live->counts.refused++;
}

int live_stage(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged)
{
	struct live_staged staged = {.addition = addition};
	struct buf file = {0};
	const void *bytes = addition->bytes;
	size_t size = addition->size_bytes;
	struct cache_entry entry;
	int result = -1;

	if (addition->path) {
		live_leave(live);
		result = os_read_file(&addition->why, addition->path, CACHE_MOST_ENTRY, &file);
		if (live_enter(err, live)) {
			result = -1;
			goto done;
		}
		if (result) {
			refuse(live, addition);
			result = 0;
			goto done;
		}
		result = -1;
		bytes = file.data;
		size = file.size;
	}
	if (check(&addition->why, addition, bytes, size, &entry)) {
		refuse(live, addition);
		result = 0;
		goto done;
	}
	addition->row_bytes = entry.key_bytes + entry.value_bytes;
	staged.target = cache_entry_path(err, live->dir, addition->key);
	if (!staged.target ||
		stage_bytes(err, live, &staged, number, bytes, size - (size_t)entry.extra_bytes)) {
		live_unstage(&staged);
		goto done;
	}
	*ret_staged = staged;
	result = 0;
done:
	buf_free(&file);
	return result;
}

void live_unstage(struct live_staged *staged)
{
	if (staged->path)
		(void)os_remove(NULL, staged->path);
	mem_free(staged->path);
	mem_free(staged->target);
	*staged = (struct live_staged){0};
}

void live_clean_staging(const char *dir)
{
	const int64_t old_s = 3600;
	struct os_names names;

	if (os_list(NULL, dir, &names))
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path = text_starts(names.items[i], CACHE_STAGING_PREFIX)
						 ? os_join(NULL, dir, names.items[i])
						 : NULL;
		struct os_stat stat;

		if (path && !os_stat(NULL, path, &stat) && stat.kind == OS_DIRECTORY &&
			stat.mtime_ns / 1000000000 < os_now_s() - old_s)
			(void)os_remove_tree(NULL, path);
		mem_free(path);
	}
	os_names_free(&names);
}
