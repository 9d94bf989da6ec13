/* An entry in memory, in one piece or in several. */
#include <string.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cache/staging.h"

struct span {
	const uint8_t *bytes;
};

static int read_span(struct jw_error *err, void *context, uint64_t offset, void *data, size_t size)
{
	const struct span *value = context;

	(void)err;
	memcpy(data, value->bytes + offset, size);
	return 0;
}

static int check_whole(struct jw_error *err, const struct cache_addition *addition,
					   struct cache_entry *ret_entry)
{
	enum cache_damage damage = cache_entry_parse(addition->bytes, addition->size_bytes, ret_entry);
	struct fnv_lane lanes[2];
	struct span value;

	if (damage != CACHE_SOUND)
		return error_set(err, JW_ERR_FORMAT, "%s", cache_damage_text(damage));
	lanes[0] = (struct fnv_lane){FNV_START, ret_entry->key, (size_t)ret_entry->key_bytes};
	lanes[1] = (struct fnv_lane){FNV_START, ret_entry->value, (size_t)ret_entry->value_bytes};
	if (!addition->verified)
		fnv_update_many(lanes, 2);
	value.bytes = ret_entry->value;
	return staging_judge(err, addition, ret_entry, lanes[0].state, lanes[1].state, read_span,
						 &value);
}

/* The same for an entry in parts. */
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

/* Whether the existing file holds the same bytes. It is read, not mapped: a driver rewrites a
 * damaged entry in place. */
static bool same_file(const char *path, const struct cache_part *parts, size_t count, size_t size)
{
	struct buf content = {0};
	bool same =
		!os_read_file(NULL, path, size + STAGING_MOST_EXTRA, &content) && content.size >= size;

	for (size_t i = 0, at = 0; same && i < count; at += parts[i++].size)
		same = !memcmp(content.data + at, parts[i].data, parts[i].size);
	buf_free(&content);
	return same;
}

static int write_parts(struct jw_error *err, const char *path, const struct cache_part *parts,
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

static int stage(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
				 size_t number, const struct cache_part *parts, size_t count, size_t size)
{
	staged->target = cache_entry_path(err, live->dir, staged->addition->key);
	if (!staged->target)
		return -1;
	staged->replaces = os_exists(staged->target);
	if (staged->replaces && same_file(staged->target, parts, count, size))
		return 0;
	if (staging_begin(err, live, staged, number) || write_parts(err, staged->path, parts, count))
		return -1;
	return staging_share(err, live, staged);
}

int stage_memory(struct jw_error *err, struct cache_live *live, struct cache_addition *addition,
				 size_t number, struct live_staged *ret_staged)
{
	struct live_staged staged = {.addition = addition};
	struct cache_part whole = {addition->bytes, addition->size_bytes};
	const struct cache_part *parts = addition->parts ? addition->parts : &whole;
	size_t size = 0, count = addition->parts ? addition->part_count : 1;
	struct cache_entry entry;

	for (size_t i = 0; i < count; i++)
		size += parts[i].size;
	if (addition->parts ? check_parts(&addition->why, addition, &entry, size)
						: check_whole(&addition->why, addition, &entry)) {
		addition->added = CACHE_ADDED_REFUSED;
		return 0;
	}
	if (!addition->parts)
		size = whole.size -= (size_t)entry.extra_bytes;
	addition->row_bytes = entry.key_bytes + entry.value_bytes;
	if (stage(err, live, &staged, number, parts, count, size)) {
		staging_end(&staged);
		return -1;
	}
	*ret_staged = staged;
	return 0;
}
