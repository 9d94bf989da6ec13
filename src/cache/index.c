#include "cache/index.h"

#include "base/cursor.h"
#include "base/mem.h"
#include "cache/entry.h"
#include "os/file.h"

const char *cache_index_state_name(enum cache_index_state state)
{
	static const char *const names[] = {
		[CACHE_INDEX_SOUND] = "sound",          [CACHE_INDEX_MISSING] = "missing",
		[CACHE_INDEX_EMPTY] = "empty",          [CACHE_INDEX_TRUNCATED] = "truncated",
		[CACHE_INDEX_VERSION] = "not an index", [CACHE_INDEX_DEVICE] = "a device",
		[CACHE_INDEX_PIPE] = "a pipe",          [CACHE_INDEX_CLOSED] = "not a file",
	};

	return names[state];
}

int cache_index_read(struct jw_error *err, struct os_file *file, struct buf *content)
{
	size_t rows, got;

	content->size = 0;
	content->most = CACHE_INDEX_HEADER + (size_t)CACHE_MAX_ROWS * CACHE_ROW_SIZE;
	(void)buf_reserve(NULL, content, CACHE_INDEX_HEADER);
	if (os_file_read(err, file, 0, content->data, CACHE_INDEX_HEADER, &content->size))
		return -1;
	if (content->size < CACHE_INDEX_HEADER)
		return 0;
	rows = load_u32(content->data + 4);
	rows = rows < CACHE_MAX_ROWS ? rows : CACHE_MAX_ROWS;
	(void)buf_reserve(NULL, content, rows * CACHE_ROW_SIZE);
	if (os_file_read(err, file, CACHE_INDEX_HEADER, content->data + CACHE_INDEX_HEADER,
					 rows * CACHE_ROW_SIZE, &got))
		return -1;
	content->size += got;
	return 0;
}

void cache_index_parse(const void *data, size_t size, struct cache_index *ret_index)
{
	struct cursor at = cursor_of(data, size);
	struct cache_index index = {.state = CACHE_INDEX_SOUND};
	uint32_t version = cursor_u32(&at), count = cursor_u32(&at);
	size_t there;

	index.total_bytes = cursor_u64(&at);
	there = cursor_left(&at) / CACHE_ROW_SIZE;
	there = there < CACHE_MAX_ROWS ? there : CACHE_MAX_ROWS;
	if (!size)
		index.state = CACHE_INDEX_EMPTY;
	else if (at.overrun || version != CACHE_VERSION)
		index.state = CACHE_INDEX_VERSION;
	else if (there < count)
		index.state = CACHE_INDEX_TRUNCATED;
	/* 0x41 is the only known version. Other small numbers count as other versions and are left
	 * alone; anything else is garbage, which a driver would wipe. 0 is an empty index whose writer
	 * was killed between rows and header. */
	index.alien = !at.overrun && version > UINT8_MAX;
	if (index.state == CACHE_INDEX_VERSION && !at.overrun && !index.alien)
		index.unknown_version = (uint8_t)version;
	if (index.state == CACHE_INDEX_SOUND || index.state == CACHE_INDEX_TRUNCATED)
		index.count = index.capacity = there < count ? there : count;
	index.rows = index.count ? mem_array(index.count, sizeof *index.rows) : NULL;
	for (size_t i = 0; i < index.count; i++) {
		index.rows[i].key = cursor_u64(&at);
		index.rows[i].size_bytes = cursor_u64(&at);
	}
	*ret_index = index;
}

/* Checks the path before it is opened: CACHE_INDEX_SOUND for a file. A driver makes the missing
 * target of a link, unless its folder is missing too; that is not distinguished here. */
static enum cache_index_state state_of_path(const char *path)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, path, &stat))
		return why.code == JW_ERR_NOT_FOUND && os_may_write(&why, path) &&
					   why.code == JW_ERR_NOT_FOUND
				   ? CACHE_INDEX_MISSING
				   : CACHE_INDEX_CLOSED;
	switch (stat.kind) {
	case OS_REGULAR: return CACHE_INDEX_SOUND;
	case OS_PIPE: return CACHE_INDEX_PIPE;
	case OS_DEVICE: return CACHE_INDEX_DEVICE;
	case OS_DIRECTORY:
	case OS_OTHER: break;
	}
	return CACHE_INDEX_CLOSED;
}

int cache_index_load(struct jw_error *err, const char *dir, struct cache_index *ret_index)
{
	struct jw_error why = {0};
	struct buf content = {0};
	struct os_file *file = NULL;
	char *path = os_join(dir, "index");
	struct cache_index index = {.state = state_of_path(path)};
	int result = 0;

	if (index.state == CACHE_INDEX_SOUND &&
		(os_file_open(&why, path, OS_OPEN_READ, &file) || cache_index_read(&why, file, &content))) {
		index.state = CACHE_INDEX_MISSING;
		result = why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
	} else if (index.state == CACHE_INDEX_SOUND) {
		cache_index_parse(content.data, content.size, &index);
	}
	if (!result)
		*ret_index = index;
	os_file_close(file);
	buf_free(&content);
	mem_free(path);
	return result;
}

void cache_index_free(struct cache_index *index)
{
	mem_free(index->rows);
	*index = (struct cache_index){0};
}

uint64_t cache_index_rows_total(const struct cache_index *index)
{
	uint64_t total = 0;

	for (size_t i = 0; i < index->count; i++) {
		if (index->rows[i].size_bytes > UINT64_MAX - total)
			return UINT64_MAX;
		total += index->rows[i].size_bytes;
	}
	return total;
}

enum cache_next_insert cache_index_next(const struct cache_index *index, uint64_t limit_bytes)
{
	uint64_t rows = cache_index_rows_total(index);

	if (index->state == CACHE_INDEX_PIPE)
		return CACHE_NEXT_HANGS;
	if (index->state == CACHE_INDEX_CLOSED)
		return CACHE_NEXT_NOTHING;
	if (index->state != CACHE_INDEX_SOUND)
		return CACHE_NEXT_WIPES;
	/* An entry larger than the limit is not stored, and evicts nothing. */
	if (!limit_bytes)
		return CACHE_NEXT_ADDS;
	if (index->total_bytes > rows && index->total_bytes - rows >= limit_bytes)
		return CACHE_NEXT_EVICTS_ALL;
	if (rows > limit_bytes && index->total_bytes > limit_bytes)
		return CACHE_NEXT_EVICTS;
	return index->total_bytes > rows ? CACHE_NEXT_EVICTS_SOON : CACHE_NEXT_ADDS;
}
