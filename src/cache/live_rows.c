/* The rows of the index, kept from one hold of the lock to the next: while no other process writes
 * to the file, nothing is parsed again, and only added rows are written. */
#include "cache/live_rows.h"

#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"

/* 0x41 is the only known version of the index. Other small numbers count as other versions and are
 * left alone; anything else is garbage, which a driver would wipe. 0 is an empty index whose writer
 * was killed between rows and header. */
enum { MOST_VERSION = 0xff };

/* Removed rows are dropped when there are this many and they are half of all. */
enum { MOST_GONE = 1024 };

int live_rows_read(struct jw_error *err, struct cache_live *live)
{
	const size_t most = CACHE_INDEX_HEADER + (size_t)CACHE_MOST_ROWS * CACHE_ROW_SIZE;
	struct live_rows *rows = &live->rows;
	struct buf *fresh = &rows->fresh, former = rows->image;
	uint64_t size;

	fresh->size = 0;
	fresh->most = most;
	if (os_file_size(err, live->file, &size))
		return -1;
	if (size > most)
		return error_set(err, JW_ERR_LIMIT, "%s: too large for an index", live->index_path);
	if (size && (buf_reserve(err, fresh, (size_t)size) ||
				 os_file_read(err, live->file, 0, fresh->data, (size_t)size, &fresh->size)))
		return -1;
	if (fresh->size == former.size &&
		(!former.size || !memcmp(fresh->data, former.data, former.size)))
		return 0;
	rows->image = *fresh;
	*fresh = former;
	rows->known = false;
	live->others = live->undone = true;
	return 0;
}

int live_rows_parse(struct jw_error *err, struct cache_live *live)
{
	struct live_rows *rows = &live->rows;
	const struct buf *image = &rows->image;
	struct cache_index index;

	if (cache_index_parse(err, image->data, image->size, &index))
		return -1;
	cache_index_free(&live->index);
	live->index = index;
	live->changed = false;
	if (index.state == CACHE_INDEX_VERSION && image->size >= CACHE_INDEX_HEADER &&
		load_u32(image->data) - 1 < MOST_VERSION)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: version 0x%x of the index is not known: left alone", live->index_path,
						 image->data[0]);
	return 0;
}

int live_rows_map(struct jw_error *err, struct cache_live *live)
{
	struct live_rows *rows = &live->rows;

	set_free(&rows->places);
	rows->bytes = 0;
	rows->oldest = rows->gone = rows->repeated = 0;
	rows->written = rows->in_image = live->index.count;
	rows->moved = live->index.state != CACHE_INDEX_SOUND;
	for (size_t i = 0; i < live->index.count; i++) {
		struct cache_row *row = &live->index.rows[i];
		size_t earlier = live_row(live, row->key);

		/* Of several rows for one key the last one counts. */
		if (earlier != SET_NONE) {
			live_drop_row(live, earlier);
			rows->repeated++;
		}
		if (row->size_bytes > UINT64_MAX - 1 - rows->bytes) {
			row->size_bytes = LIVE_GONE;
			rows->gone++;
			rows->moved = true;
			continue;
		}
		if (set_add(err, &rows->places, row->key, i))
			return -1;
		rows->bytes += row->size_bytes;
	}
	rows->known = true;
	return 0;
}

void live_rows_adopt(struct cache_live *live)
{
	struct live_rows *rows = &live->rows;
	const struct cache_index *index = &live->index;

	live->counts.dropped += rows->repeated;
	rows->repeated = 0;
	live->changed = rows->moved;
	if (index->state != CACHE_INDEX_SOUND || index->total_bytes != rows->bytes) {
		live->changed = true;
		/* A new index needs no repair. */
		live->counts.mended = live->counts.mended || index->state != CACHE_INDEX_EMPTY;
	}
}

/* Updates the image from the rows. [*ret_from, *ret_end) is the changed range behind the header.
 * Bytes behind the rows stay, as in the file. */
static int renew_image(struct jw_error *err, struct cache_live *live, size_t *ret_from,
					   size_t *ret_end)
{
	struct live_rows *rows = &live->rows;
	struct buf *image = &rows->image;
	const size_t first = rows->moved ? 0 : rows->written, had = image->size;
	const size_t count = live->index.count - rows->gone;
	const size_t end = CACHE_INDEX_HEADER + count * CACHE_ROW_SIZE;
	size_t at = CACHE_INDEX_HEADER + (rows->moved ? 0 : rows->in_image) * CACHE_ROW_SIZE;
	size_t from = end;

	image->most = CACHE_INDEX_HEADER + (size_t)CACHE_MOST_ROWS * CACHE_ROW_SIZE;
	if (end > had && buf_reserve(err, image, end - had))
		return -1;
	for (size_t i = first; i < live->index.count; i++) {
		const struct cache_row *row = &live->index.rows[i];
		uint8_t bytes[CACHE_ROW_SIZE];

		if (row->size_bytes == LIVE_GONE)
			continue;
		store_u64(bytes, row->key);
		store_u64(bytes + 8, row->size_bytes);
		if (from == end &&
			(at + sizeof bytes > had || memcmp(image->data + at, bytes, sizeof bytes) != 0))
			from = at;
		memcpy(image->data + at, bytes, sizeof bytes);
		at += sizeof bytes;
	}
	if (end > had)
		image->size = end;
	store_u32(image->data, CACHE_VERSION);
	store_u32(image->data + 4, (uint32_t)count);
	store_u64(image->data + 8, rows->bytes);
	rows->in_image = count;
	*ret_from = from;
	*ret_end = end;
	return 0;
}

/* Writes the rows first, then the header in one write. Until then the old header is followed by at
 * least as many rows as it counts. Bytes behind the rows do no harm. */
int live_rows_write(struct jw_error *err, struct cache_live *live)
{
	struct live_rows *rows = &live->rows;
	const uint8_t *bytes;
	size_t from, end;

	if (renew_image(err, live, &from, &end))
		return -1;
	bytes = rows->image.data;
	if ((from < end && os_file_write(err, live->file, from, bytes + from, end - from)) ||
		os_file_write(err, live->file, 0, bytes, CACHE_INDEX_HEADER))
		return -1;
	live->index.state = CACHE_INDEX_SOUND;
	live->index.total_bytes = rows->bytes;
	rows->written = live->index.count;
	rows->moved = false;
	if (rows->gone > MOST_GONE && rows->gone > live->index.count / 2)
		rows->known = false;
	return 0;
}

void live_rows_forget(struct cache_live *live)
{
	live->rows.known = false;
	live->rows.image.size = 0;
}

void live_rows_free(struct cache_live *live)
{
	struct live_rows *rows = &live->rows;

	buf_free(&rows->image);
	buf_free(&rows->fresh);
	set_free(&rows->places);
	cache_index_free(&live->index);
	*rows = (struct live_rows){0};
}

size_t live_row(const struct cache_live *live, uint64_t key)
{
	size_t cursor = 0, at, last = SET_NONE;

	while ((at = set_find(&live->rows.places, key, &cursor)) != SET_NONE)
		if (live->index.rows[at].size_bytes != LIVE_GONE)
			last = at;
	return last;
}

void live_drop_row(struct cache_live *live, size_t at)
{
	struct live_rows *rows = &live->rows;

	rows->bytes -= live->index.rows[at].size_bytes;
	live->index.rows[at].size_bytes = LIVE_GONE;
	rows->gone++;
	rows->moved = rows->moved || at < rows->written;
	live->changed = true;
}

void live_resize_row(struct cache_live *live, size_t at, uint64_t row_bytes)
{
	struct live_rows *rows = &live->rows;

	rows->bytes += row_bytes - live->index.rows[at].size_bytes;
	live->index.rows[at].size_bytes = row_bytes;
	rows->moved = rows->moved || at < rows->written;
	live->changed = true;
}

int live_put_row(struct jw_error *err, struct cache_live *live, uint64_t key, uint64_t row_bytes)
{
	struct cache_index *index = &live->index;
	size_t old = live_row(live, key);

	if (VEC_ROOM(err, index->rows, index->capacity, index->count, CACHE_MOST_ROWS) ||
		set_add(err, &live->rows.places, key, index->count))
		return -1;
	index->rows[index->count++] = (struct cache_row){key, row_bytes};
	if (old != SET_NONE)
		live_drop_row(live, old);
	live->rows.bytes += row_bytes;
	live->changed = true;
	return 0;
}
