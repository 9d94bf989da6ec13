/* The rows of the index, kept from one hold of the lock to the next. If no other process has
 * written to the file, nothing is parsed again, and only added rows are written. */
#include "cache/live.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "os/clock.h"

/* Removed rows are dropped if there are this many and they are half of all. */
enum { MAX_GONE = 1024 };

int live_rows_read(struct jw_error *err, struct cache_live *live)
{
	struct live_rows *rows = &live->rows;
	struct buf *fresh = &rows->fresh, former = rows->image;

	if (cache_index_read(err, live->file, fresh))
		return -1;
	if (fresh->size == former.size &&
		(!former.size || !memcmp(fresh->data, former.data, former.size)))
		return 0;
	rows->image = *fresh;
	*fresh = former;
	rows->known = false;
	if (!live->undone)
		live->undone_since_ns = live->released_ns;
	live->others = live->undone = true;
	return 0;
}

int live_rows_parse(struct jw_error *err, struct cache_live *live)
{
	struct live_rows *rows = &live->rows;
	const struct buf *image = &rows->image;
	struct cache_index index;

	cache_index_parse(image->data, image->size, &index);
	cache_index_free(&live->index);
	live->index = index;
	live->changed = false;
	if (index.unknown_version)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: the index has version 0x%x, which jitwarm does not know: nothing was "
						 "changed; delete this file if no newer driver uses this cache",
						 live->index_path, index.unknown_version);
	return 0;
}

/* Maps each key to its position, which takes milliseconds for a large index and needs no lock; from
 * then on the rows are known. */
static void live_rows_map(struct cache_live *live)
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

		/* If a key has several rows, the last one counts. */
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
		set_put(&rows->places, row->key, i);
		rows->bytes += row->size_bytes;
	}
	rows->known = true;
}

/* Decides at the beginning of a hold whether all rows have to be written. */
static void live_rows_adopt(struct cache_live *live)
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

/* Writes the rows first, then the header in one write. Until then the old header is followed by at
 * least as many rows as it counts. Bytes after the rows do no harm, and stay. Only the changed
 * range of the rows is written. */
static int live_rows_write(struct jw_error *err, struct cache_live *live)
{
	struct live_rows *rows = &live->rows;
	struct buf *image = &rows->image;
	const size_t first = rows->moved ? 0 : rows->written, had = image->size;
	const size_t count = live->index.count - rows->gone;
	const size_t end = CACHE_INDEX_HEADER + count * CACHE_ROW_SIZE;
	size_t at = CACHE_INDEX_HEADER + (rows->moved ? 0 : rows->in_image) * CACHE_ROW_SIZE;
	size_t from = end;

	image->most = CACHE_INDEX_HEADER + (size_t)CACHE_MAX_ROWS * CACHE_ROW_SIZE;
	if (end > had)
		(void)buf_reserve(NULL, image, end - had);
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
	image->size = end;
	store_u32(image->data, CACHE_VERSION);
	store_u32(image->data + 4, (uint32_t)count);
	store_u64(image->data + 8, rows->bytes);
	if ((from < end && os_file_write(err, live->file, from, image->data + from, end - from)) ||
		os_file_write(err, live->file, 0, image->data, CACHE_INDEX_HEADER)) {
		/* The file's content is unknown. */
		rows->known = false;
		image->size = 0;
		return -1;
	}
	live->index.state = CACHE_INDEX_SOUND;
	live->index.total_bytes = rows->bytes;
	rows->in_image = count;
	rows->written = live->index.count;
	rows->moved = false;
	if (rows->gone > MAX_GONE && rows->gone > live->index.count / 2)
		rows->known = false;
	return 0;
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
	size_t cursor = 0, at = set_find(&live->rows.places, key, &cursor);

	return at != SET_NONE && live->index.rows[at].size_bytes != LIVE_GONE ? at : SET_NONE;
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

	if (VEC_ROOM(err, index->rows, index->capacity, index->count, CACHE_MAX_ROWS))
		return -1;
	set_put(&live->rows.places, key, index->count);
	index->rows[index->count++] = (struct cache_row){key, row_bytes};
	if (old != SET_NONE)
		live_drop_row(live, old);
	live->rows.bytes += row_bytes;
	live->changed = true;
	return 0;
}

/* ---- the lock on the index */

/* A driver unlocks before it writes the last bytes of the index (measured: up to a few
 * milliseconds). An index that looks unsound is therefore read again, this many times at this
 * interval. */
enum { SETTLE_TRIES = 5, SETTLE_MS = 10 };

/* Up to this many rows are mapped under the lock. For more rows, the positions are computed without
 * the lock, unless others have written to the index during this many tries. */
enum { MAX_HELD_ROWS = 4096, LATE_TRIES = 4 };

/* Makes the index writable for the accounts that may read the directory: a driver opens it for
 * writing even for a look-up. Another account's index stays unchanged. */
static void share_index(const struct cache_live *live)
{
	uint32_t wanted = 0600 | (live->shared & 044) | (live->shared & 044) >> 1;
	struct os_stat stat;

	if (!os_stat(NULL, live->index_path, &stat) && (stat.mode & wanted) != wanted)
		(void)os_set_mode(NULL, live->index_path, stat.mode | wanted);
}

/* Makes the index file. First removes what prevents it: a pipe, a device, a link to one, or a
 * folder that a container runtime made for a missing file. */
static int create_index(struct jw_error *err, struct cache_live *live)
{
	struct jw_error why = {0}, missing = {0};
	struct os_stat stat;

	if (!os_stat(&missing, live->index_path, &stat) && stat.kind != OS_REGULAR) {
		if (stat.kind != OS_DIRECTORY && os_remove(err, live->index_path))
			return -1;
		if (stat.kind == OS_DIRECTORY && os_remove_empty_dir(err, live->index_path))
			return error_prefix(err, "the cache's index is a folder: move it away");
	}
	if (!os_file_open(&why, live->index_path, OS_OPEN_CREATE, &live->file))
		return 0;
	/* The directory may have been removed since it was opened, or a link may dangle; root's writing
	 * does not follow links, and reports that this is no regular file. */
	if (why.code != JW_ERR_NOT_FOUND &&
		!(why.code == JW_ERR_UNSUPPORTED && missing.code == JW_ERR_NOT_FOUND))
		return error_copy(err, &why);
	if (os_make_dirs(err, live->dir, 0700) || os_remove(err, live->index_path))
		return -1;
	return os_file_open(err, live->index_path, OS_OPEN_CREATE, &live->file);
}

static int take_index_lock(struct jw_error *err, struct cache_live *live)
{
	struct jw_error why = {0}, no_locks = {0};
	struct os_stat stat;

	/* Opening a pipe would block. */
	if (!os_stat(NULL, live->index_path, &stat) && stat.kind == OS_REGULAR &&
		os_file_open(&why, live->index_path, OS_OPEN_UPDATE, &live->file) &&
		why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	live->created = !live->file;
	if (live->created && create_index(err, live))
		return -1;
	if (live->shared)
		share_index(live);
	if (os_file_wait_lock(err, live->file, live->index_path, live->options.lock_wait_ms, &no_locks))
		return -1;
	if (no_locks.code)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "the cache cannot be locked, so drivers do not use it either: %s",
						 no_locks.message);
	live->held_since_ns = os_monotonic_ns();
	return 0;
}

int live_unlock(struct jw_error *err, struct cache_live *live)
{
	int result = live->changed ? live_rows_write(err, live) : 0;
	uint64_t now = os_monotonic_ns(), held = live->held_since_ns ? now - live->held_since_ns : 0;

	if (live->held_since_ns) {
		(void)os_file_unlock(NULL, live->file);
		live->released_ns = now;
		live->counts.holds++;
	}
	if (held > live->counts.longest_hold_ns)
		live->counts.longest_hold_ns = held;
	os_file_close(live->file);
	live->file = NULL;
	live->held_since_ns = 0;
	live->changed = false;
	return result;
}

void live_abandon(struct cache_live *live)
{
	live->rows.known = false;
	live->changed = false;
	(void)live_unlock(NULL, live);
}

int live_lock(struct jw_error *err, struct cache_live *live)
{
	live->others = false;
	for (int unsound = 0, late = 0;;) {
		bool many;

		if (take_index_lock(err, live) || live_rows_read(err, live))
			goto fail;
		if (live->rows.known)
			break;
		if (live_rows_parse(err, live))
			goto fail;
		if (live->index.state != CACHE_INDEX_SOUND && !live->created && unsound++ < SETTLE_TRIES) {
			live_abandon(live);
			uv_sleep(SETTLE_MS);
			continue;
		}
		many = live->index.count > MAX_HELD_ROWS && late++ < LATE_TRIES;
		if (many)
			(void)live_unlock(NULL, live);
		live_rows_map(live);
		if (!many)
			break;
	}
	live_rows_adopt(live);
	return 0;
fail:
	live_abandon(live);
	return -1;
}

bool live_must_let_go(const struct cache_live *live)
{
	return os_monotonic_ns() - live->held_since_ns > CACHE_HOLD_MS * UINT64_C(1000000);
}

/* ---- cache_repair makes the rows of an index agree with the files beside it. It compares without
 * the lock, and changes the index under the lock, a few milliseconds at a time. */

/* The repairs of a row or a file, in the order in which they are made. */
enum repair_kind {
	REPAIR_DROP,  /* a row without a file */
	REPAIR_SIZE,  /* a row with another size than the file's */
	REPAIR_COUNT, /* a file without a row */
};

struct repair_task {
	enum repair_kind kind;
	uint64_t key, row_bytes;
	int64_t mtime_ns;
};

struct repair {
	struct cache_live *live;
	struct repair_task *tasks;
	size_t count, capacity, next;
	/* Another process has written to the index since the files were compared. */
	bool others_wrote;
};

static void add_task(struct repair *repair, struct repair_task task)
{
	VEC_GROW(repair->tasks, repair->capacity, repair->count);
	repair->tasks[repair->count++] = task;
}

/* Returns the size with which an entry counts; 0 if it is absent or damaged. */
static uint64_t probe_row_bytes(const struct repair *repair, uint64_t key)
{
	struct cache_probed probed;

	return cache_presence(repair->live->dir, key, NULL, &probed) == CACHE_PRESENT
			   ? probed.key_bytes + probed.value_bytes
			   : 0;
}

/* Orders files without a row, oldest first. */
static int by_turn(const void *a, const void *b)
{
	const struct repair_task *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Compares the files with the rows of the last hold. */
static int compare_repaired(struct jw_error *err, struct repair *repair)
{
	const struct cache_index *index = &repair->live->index;
	struct cache_files scan;
	uint64_t row_bytes;

	if (cache_files_scan(err, repair->live->dir, /* headers= */ false, NULL, &scan))
		return -1;
	for (size_t i = 0; i < index->count; i++) {
		const struct cache_row *row = &index->rows[i];
		const struct cache_file *file = cache_files_find(&scan, row->key);

		if (row->size_bytes == LIVE_GONE ||
			(file && file->probed.stat.size_bytes - CACHE_ENTRY_HEADER == row->size_bytes))
			continue;
		if (!file) {
			add_task(repair, (struct repair_task){.kind = REPAIR_DROP, .key = row->key});
			continue;
		}
		row_bytes = probe_row_bytes(repair, row->key);
		if (row_bytes && row_bytes != row->size_bytes)
			add_task(repair, (struct repair_task){REPAIR_SIZE, row->key, row_bytes, 0});
	}
	for (size_t i = 0; i < scan.count; i++) {
		const struct cache_file *file = &scan.files[i];

		if (live_row(repair->live, file->key) != SET_NONE)
			continue;
		row_bytes = probe_row_bytes(repair, file->key);
		if (row_bytes)
			add_task(repair, (struct repair_task){REPAIR_COUNT, file->key, row_bytes,
												  file->probed.stat.mtime_ns});
	}
	if (repair->count)
		qsort(repair->tasks, repair->count, sizeof *repair->tasks, by_turn);
	cache_files_free(&scan);
	return 0;
}

/* Makes one repair under the lock, if it is still needed: other processes may have changed the row
 * or the file since the walk. */
static int do_task(struct jw_error *err, struct repair *repair, const struct repair_task *task)
{
	struct cache_live *live = repair->live;
	const uint64_t limit = live->options.limit_bytes;
	size_t row = live_row(live, task->key);
	uint64_t row_bytes = task->row_bytes;

	switch (task->kind) {
	case REPAIR_DROP:
		/* A file may have been added since the directory was walked. */
		if (row != SET_NONE && cache_presence(live->dir, task->key, NULL, NULL) == CACHE_ABSENT) {
			live_drop_row(live, row);
			live->counts.dropped++;
		}
		break;
	case REPAIR_SIZE:
		if (row == SET_NONE)
			break;
		if (repair->others_wrote)
			row_bytes = probe_row_bytes(repair, task->key);
		if (row_bytes && row_bytes != live->index.rows[row].size_bytes) {
			live_resize_row(live, row, row_bytes);
			live->counts.mended = true;
		}
		break;
	case REPAIR_COUNT:
		/* Beyond the limit the driver would evict at its next insert; files without rows do no
		 * harm. */
		if (live->rows.bytes > limit || row_bytes > limit - live->rows.bytes) {
			repair->next = repair->count;
			break;
		}
		if (row != SET_NONE || (repair->others_wrote && !probe_row_bytes(repair, task->key)))
			break;
		if (live_put_row(err, live, task->key, row_bytes))
			return -1;
		live->counts.counted++;
	}
	return 0;
}

/* Makes as many repairs as one hold of the lock allows. */
static int repair_batch(struct jw_error *err, struct repair *repair)
{
	struct cache_live *live = repair->live;

	if (live_lock(err, live))
		return -1;
	repair->others_wrote = repair->others_wrote || live->others;
	while (repair->next < repair->count) {
		if (do_task(err, repair, &repair->tasks[repair->next])) {
			live_abandon(live);
			return -1;
		}
		/* The limit ends the remaining repairs. */
		repair->next += repair->next < repair->count;
		if (live_must_let_go(live))
			break;
	}
	return live_unlock(err, live);
}

int cache_repair(struct jw_error *err, struct cache_live *live)
{
	struct repair repair = {.live = live};
	int result;

	/* From here on the index is sound, so no driver wipes the cache while files are compared. */
	if (live_lock(err, live) || live_unlock(err, live))
		return -1;
	result = compare_repaired(err, &repair);
	while (!result && repair.next < repair.count) {
		if (repair.next)
			uv_sleep(CACHE_HOLD_MS);
		result = repair_batch(err, &repair);
	}
	if (!result)
		live->repaired = true;
	mem_free(repair.tasks);
	return result;
}

int live_lock_sound(struct jw_error *err, struct cache_live *live)
{
	for (int tries = 0; tries < 3; tries++) {
		if (!live->repaired && cache_repair(err, live))
			return -1;
		if (live_lock(err, live))
			return -1;
		if (live->index.state == CACHE_INDEX_SOUND)
			return 0;
		live_abandon(live);
		live->repaired = false;
	}
	return error_set(err, JW_ERR_BUSY, "%s: stays damaged: another program writes to it",
					 live->index_path);
}
