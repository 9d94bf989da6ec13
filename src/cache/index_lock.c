/* The lock on the index, and the index under it. */

#include <uv.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "cache/live.h"
#include "os/clock.h"
#include "os/processes.h"

/* A driver unlocks before the last bytes of the index are written (measured: up to a few
 * milliseconds). An index that looks unsound is read again, so many times after so long. */
enum { SETTLE_TRIES = 5, SETTLE_MS = 10 };

/* 0x41 is the only version of the index that was seen. Small numbers beside it are taken for other
 * versions and left alone; all else is garbage, which a driver would wipe. 0 is an empty index
 * whose writer was killed between rows and header. */
enum { MOST_VERSION = 0xff };

/* Accounts that may read the directory have to write to its index: a driver opens it so even to
 * look an entry up. Another account's index is left as it is. */
static void share_index(const struct cache_live *live)
{
	uint32_t wanted = 0600 | (live->shared & 044) | (live->shared & 044) >> 1;
	struct os_stat stat;

	if (!os_stat(NULL, live->index_path, &stat) && (stat.mode & wanted) != wanted)
		(void)os_set_mode(NULL, live->index_path, stat.mode | wanted);
}

/* What is no file is in the way of one: a pipe, a device, a link to one, a folder that a container
 * was given for a file that it lacks. */
static int clear_way(struct jw_error *err, const struct cache_live *live)
{
	struct os_stat stat;

	if (os_stat(NULL, live->index_path, &stat) || stat.kind == OS_REGULAR)
		return 0;
	if (stat.kind != OS_DIRECTORY)
		return os_remove(err, live->index_path);
	return os_remove_empty_dir(err, live->index_path)
			   ? error_prefix(err, "the cache's index is a folder: move it away")
			   : 0;
}

static int create_index(struct jw_error *err, struct cache_live *live)
{
	struct jw_error why = {0};

	if (!os_file_open(&why, live->index_path, OS_OPEN_CREATE, &live->file))
		return 0;
	/* The directory may have been removed since it was opened, or a link leads nowhere. */
	if (why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	return os_make_dirs(err, live->dir, 0700) || os_remove(err, live->index_path) ||
				   os_file_open(err, live->index_path, OS_OPEN_CREATE, &live->file)
			   ? -1
			   : 0;
}

static int locked(struct jw_error *err, const struct cache_live *live, unsigned waited_ms)
{
	struct os_program program;

	if (!os_file_user(live->file, &program))
		return error_set(err, JW_ERR_BUSY, "%s: locked by another process for %.1f s",
						 live->index_path, waited_ms / 1e3);
	return error_set(err, JW_ERR_BUSY, "%s: locked by %s (process %d) for %.1f s", live->index_path,
					 *program.name ? program.name : "a program", program.pid, waited_ms / 1e3);
}

static int take_index_lock(struct jw_error *err, struct cache_live *live)
{
	unsigned most_ms = live->options.lock_wait_ms;
	uint64_t start = os_monotonic_ns();
	struct jw_error why = {0};
	bool held = false;

	if (clear_way(err, live))
		return -1;
	live->created = os_file_open(&why, live->index_path, OS_OPEN_UPDATE, &live->file) != 0;
	if (live->created && why.code != JW_ERR_NOT_FOUND)
		return error_copy(err, &why);
	if (live->created && create_index(err, live))
		return -1;
	if (live->shared)
		share_index(live);
	for (;;) {
		if (os_file_lock(&why, live->file, true, &held))
			return error_set(err, JW_ERR_UNSUPPORTED,
							 "the cache cannot be locked, so drivers do not use it either: %s",
							 why.message);
		if (held)
			break;
		if (os_monotonic_ns() - start > most_ms * UINT64_C(1000000))
			return locked(err, live, most_ms);
		uv_sleep(1);
	}
	live->held_since_ns = os_monotonic_ns();
	return 0;
}

static int read_locked_index(struct jw_error *err, struct cache_live *live)
{
	const size_t most = CACHE_INDEX_HEADER + (size_t)CACHE_MOST_ROWS * CACHE_ROW_SIZE;
	struct buf content = BUF_MAX(most);
	uint64_t size;
	size_t got = 0;
	int result = -1;

	if (os_file_size(err, live->file, &size))
		return -1;
	if (size > most)
		return error_set(err, JW_ERR_LIMIT, "%s: too large for an index", live->index_path);
	if (size && (buf_reserve(err, &content, (size_t)size) ||
				 os_file_read(err, live->file, 0, content.data, (size_t)size, &got)))
		goto done;
	result = cache_index_parse(err, content.data, got, &live->index);
	if (!result && live->index.state == CACHE_INDEX_VERSION && got >= CACHE_INDEX_HEADER &&
		load_u32(content.data) - 1 < MOST_VERSION)
		result = error_set(err, JW_ERR_UNSUPPORTED,
						   "%s: version 0x%x of the index is not known: left alone",
						   live->index_path, content.data[0]);
done:
	buf_free(&content);
	return result;
}

/* Rows first, then the header in one write. Until then the old header is followed by at least as
 * many rows as it counts. Bytes behind the rows do no harm. */
static int write_index(struct jw_error *err, struct cache_live *live)
{
	struct cache_index *index = &live->index;
	struct buf bytes = {0};
	size_t kept = 0;
	int result;

	for (size_t i = 0; i < index->count; i++)
		if (index->rows[i].size_bytes != LIVE_GONE)
			index->rows[kept++] = index->rows[i];
	index->count = kept;
	if (cache_index_format(err, index, &bytes))
		return -1;
	result = os_file_write(err, live->file, CACHE_INDEX_HEADER, bytes.data + CACHE_INDEX_HEADER,
						   bytes.size - CACHE_INDEX_HEADER) ||
			 os_file_write(err, live->file, 0, bytes.data, CACHE_INDEX_HEADER);
	buf_free(&bytes);
	return result ? -1 : 0;
}

int live_unlock(struct jw_error *err, struct cache_live *live)
{
	int result = live->changed ? write_index(err, live) : 0;
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
	mem_free(live->index.rows);
	live->index = (struct cache_index){0};
	set_free(&live->rows);
	live->changed = false;
	return result;
}

void live_abandon(struct cache_live *live)
{
	live->changed = false;
	(void)live_unlock(NULL, live);
}

int live_lock(struct jw_error *err, struct cache_live *live)
{
	for (int tries = 0;; tries++) {
		if (take_index_lock(err, live) || read_locked_index(err, live))
			goto fail;
		if (live->index.state == CACHE_INDEX_SOUND || live->created || tries == SETTLE_TRIES)
			break;
		live_abandon(live);
		uv_sleep(SETTLE_MS);
	}
	live->rows_bytes = 0;
	for (size_t i = 0; i < live->index.count; i++) {
		struct cache_row *row = &live->index.rows[i];
		size_t earlier = live_row(live, row->key);

		/* Of several rows for one key the last counts. */
		if (earlier != SET_NONE) {
			live_drop_row(live, earlier);
			live->counts.dropped++;
		}
		if (row->size_bytes > UINT64_MAX - 1 - live->rows_bytes) {
			row->size_bytes = LIVE_GONE;
			live->changed = true;
			continue;
		}
		if (set_add(err, &live->rows, row->key, i))
			goto fail;
		live->rows_bytes += row->size_bytes;
	}
	if (live->index.state != CACHE_INDEX_SOUND || live->index.total_bytes != live->rows_bytes) {
		live->changed = true;
		/* An index that is merely new has nothing to mend. */
		live->counts.mended = live->counts.mended || live->index.state != CACHE_INDEX_EMPTY;
	}
	return 0;
fail:
	live_abandon(live);
	return -1;
}

bool live_must_let_go(const struct cache_live *live)
{
	return os_monotonic_ns() - live->held_since_ns > CACHE_HOLD_MS * UINT64_C(1000000);
}

size_t live_row(const struct cache_live *live, uint64_t key)
{
	size_t cursor = 0, at, last = SET_NONE;

	while ((at = set_find(&live->rows, key, &cursor)) != SET_NONE)
		if (live->index.rows[at].size_bytes != LIVE_GONE)
			last = at;
	return last;
}

void live_drop_row(struct cache_live *live, size_t at)
{
	live->rows_bytes -= live->index.rows[at].size_bytes;
	live->index.rows[at].size_bytes = LIVE_GONE;
	live->changed = true;
}

int live_put_row(struct jw_error *err, struct cache_live *live, uint64_t key, uint64_t row_bytes)
{
	struct cache_index *index = &live->index;
	size_t old = live_row(live, key);

	if (VEC_ROOM(err, index->rows, index->capacity, index->count, CACHE_MOST_ROWS) ||
		set_add(err, &live->rows, key, index->count))
		return -1;
	index->rows[index->count++] = (struct cache_row){key, row_bytes};
	if (old != SET_NONE)
		live_drop_row(live, old);
	live->rows_bytes += row_bytes;
	live->changed = true;
	return 0;
}
