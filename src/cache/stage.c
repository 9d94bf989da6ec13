/* From an entry that is not to be trusted to a file that may be renamed into the cache. */
#include <string.h>

#include <sodium.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/stage.h"
#include "os/clock.h"

/* Drivers accept bytes behind the value; nobody has seen any. */
enum { MOST_EXTRA = 4096 };

/* The driver does not heal an entry whose cubin it cannot load: the application fails with it at
 * every start (docs/driver-cache.md, "Values"). So each is looked at before it goes in. */
int stage_check_cubin(struct jw_error *err, const struct cache_addition *addition,
					  const struct cubin_header *cubin)
{
	bool link = addition->form == CACHE_KEY_LINK;

	if (cubin->sm != addition->sm)
		return error_set(err, JW_ERR_FORMAT, "its cubin is for sm_%u, not sm_%u",
						 (unsigned)cubin->sm, (unsigned)addition->sm);
	if (cubin->relocatable != link)
		return error_set(err, JW_ERR_FORMAT, "its cubin is %srelocatable",
						 cubin->relocatable ? "" : "not ");
	return 0;
}

static int check(struct jw_error *err, const struct cache_addition *addition, const void *bytes,
				 size_t size, struct cache_entry *ret_entry)
{
	struct cubin_header cubin;
	enum cache_damage damage = addition->verified
								   ? cache_entry_parse(bytes, size, ret_entry)
								   : cache_entry_verify(bytes, size, addition->key, ret_entry);

	if (damage != CACHE_SOUND)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
	if (addition->key_bytes && ret_entry->key_bytes != addition->key_bytes)
		return error_set(err, JW_ERR_FORMAT, "its key has %llu bytes, not %llu",
						 (unsigned long long)ret_entry->key_bytes,
						 (unsigned long long)addition->key_bytes);
	if (addition->verified)
		return 0;
	return cubin_read(err, ret_entry->value, (size_t)ret_entry->value_bytes, &cubin) ||
				   stage_check_cubin(err, addition, &cubin)
			   ? -1
			   : 0;
}

/* The same of an entry in parts. */
static int check_parts(struct jw_error *err, const struct cache_addition *addition,
					   struct cache_entry *ret_entry, uint64_t size)
{
	struct cursor at = cursor_of(addition->parts[0].data, addition->parts[0].size);
	struct cache_entry entry = {0};
	uint32_t version = cursor_u32(&at);

	entry.key_bytes = cursor_u64(&at);
	entry.value_bytes = cursor_u64(&at);
	entry.checksum = cursor_u64(&at);
	if (!addition->verified || at.overrun || version != CACHE_VERSION ||
		entry.key_bytes != addition->key_bytes || size < CACHE_ENTRY_HEADER + entry.key_bytes ||
		entry.value_bytes != size - CACHE_ENTRY_HEADER - entry.key_bytes)
		return error_set(err, JW_ERR_FORMAT, "its parts are not as long as its header says");
	*ret_entry = entry;
	return 0;
}

/* Whether the file in place holds the same bytes. It is read, not mapped: a driver rewrites a
 * damaged entry in place. */
static bool same_file(const char *path, const struct cache_part *parts, size_t count, size_t size)
{
	struct buf content = {0};
	bool same = !os_read_file(NULL, path, size + MOST_EXTRA, &content) && content.size >= size;

	for (size_t i = 0, at = 0; same && i < count; at += parts[i++].size)
		same = !memcmp(content.data + at, parts[i].data, parts[i].size);
	buf_free(&content);
	return same;
}

int live_make_staging(struct jw_error *err, struct cache_live *live)
{
	if (!live->staging)
		live->staging = mem_printf(err, "%s/" CACHE_STAGING_PREFIX "%08x%08x", live->dir,
								   (unsigned)randombytes_random(), (unsigned)randombytes_random());
	if (!live->staging)
		return -1;
	/* Who removes the cache removes it too. */
	return os_exists(live->staging) ? 0 : os_make_dirs(err, live->staging, 0700);
}

static int write_file(struct jw_error *err, const char *path, const struct cache_part *parts,
					  size_t count)
{
	struct os_file *file = NULL;
	int result = 0;

	if (os_file_open(err, path, OS_OPEN_CREATE, &file))
		return -1;
	for (size_t i = 0, at = 0; !result && i < count; at += parts[i++].size)
		result = os_file_write(err, file, at, parts[i].data, parts[i].size);
	os_file_close(file);
	if (result)
		(void)os_remove(NULL, path);
	return result;
}

/* One level, below a directory that is there. */
static int make_level(struct jw_error *err, const struct cache_live *live, const char *folder)
{
	if (os_exists(folder))
		return 0;
	if (os_make_dirs(err, folder, 0700))
		return -1;
	return live->shared ? os_set_mode(err, folder, 0700 | live->shared) : 0;
}

int live_make_folder(struct jw_error *err, const struct cache_live *live, const char *target)
{
	char *folder = os_dir_name(err, target);
	char *above = folder ? os_dir_name(err, folder) : NULL;
	int result = -1;

	if (above && !os_exists(folder))
		result = make_level(err, live, above) || make_level(err, live, folder) ? -1 : 0;
	else if (above)
		result = 0;
	mem_free(above);
	mem_free(folder);
	return result;
}

int stage_begin(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
				size_t number)
{
	if (live_make_staging(err, live) || live_make_folder(err, live, staged->target))
		return -1;
	mem_free(staged->path);
	staged->path = mem_printf(err, "%s/%zu", live->staging, number);
	return staged->path ? 0 : -1;
}

int stage_share(struct jw_error *err, const struct cache_live *live,
				const struct live_staged *staged)
{
	return live->shared ? os_set_mode(err, staged->path, 0600 | (live->shared & 066)) : 0;
}

void stage_refuse(struct cache_addition *addition)
{
	addition->added = CACHE_ADDED_REFUSED;
}

static int stage_parts(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
					   size_t number, const struct cache_part *parts, size_t count, size_t size)
{
	staged->replaces = os_exists(staged->target);
	if (staged->replaces && same_file(staged->target, parts, count, size))
		return 0;
	if (stage_begin(err, live, staged, number) || write_file(err, staged->path, parts, count))
		return -1;
	return stage_share(err, live, staged);
}

static int stage_memory(struct jw_error *err, struct cache_live *live,
						struct cache_addition *addition, size_t number,
						struct live_staged *ret_staged)
{
	struct live_staged staged = {.addition = addition};
	struct cache_part whole = {addition->bytes, addition->size_bytes};
	const struct cache_part *parts = addition->parts ? addition->parts : &whole;
	size_t size = 0, count = addition->parts ? addition->part_count : 1;
	struct cache_entry entry;

	for (size_t i = 0; i < count; i++)
		size += parts[i].size;
	if (addition->parts ? check_parts(&addition->why, addition, &entry, size)
						: check(&addition->why, addition, whole.data, size, &entry)) {
		stage_refuse(addition);
		return 0;
	}
	if (!addition->parts)
		size = whole.size -= (size_t)entry.extra_bytes;
	addition->row_bytes = entry.key_bytes + entry.value_bytes;
	staged.target = cache_entry_path(err, live->dir, addition->key);
	if (!staged.target || stage_parts(err, live, &staged, number, parts, count, size)) {
		live_unstage(&staged);
		return -1;
	}
	*ret_staged = staged;
	return 0;
}

int live_stage(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
			   size_t number, struct live_staged *ret_staged)
{
	return addition->path ? stage_file(err, live, addition, number, ret_staged)
						  : stage_memory(err, live, addition, number, ret_staged);
}

void stage_give_back(struct live_staged *staged)
{
	if (staged->path && !staged->moved &&
		(!staged->taken || os_rename(NULL, staged->path, staged->addition->path)))
		(void)os_remove(NULL, staged->path);
	mem_free(staged->path);
	staged->path = NULL;
	staged->taken = false;
}

void live_unstage(struct live_staged *staged)
{
	stage_give_back(staged);
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
