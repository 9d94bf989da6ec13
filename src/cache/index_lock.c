/* The lock on the index. */

#include <uv.h>

#include "cache/live_rows.h"
#include "os/clock.h"
#include "os/processes.h"

/* A driver unlocks before it writes the last bytes of the index (measured: up to a few
 * milliseconds). An index that looks unsound is therefore read again, this many times at this
 * interval. */
enum { SETTLE_TRIES = 5, SETTLE_MS = 10 };

/* For more rows than this, positions are computed without the lock, unless others have written to
 * the index during this many tries. */
enum { MOST_HELD_ROWS = 4096, LATE_TRIES = 4 };

/* Accounts that may read the directory need write access to its index: a driver opens it for
 * writing even for a look-up. Another account's index stays unchanged. */
static void share_index(const struct cache_live *live)
{
	uint32_t wanted = 0600 | (live->shared & 044) | (live->shared & 044) >> 1;
	struct os_stat stat;

	if (!os_stat(NULL, live->index_path, &stat) && (stat.mode & wanted) != wanted)
		(void)os_set_mode(NULL, live->index_path, stat.mode | wanted);
}

/* Removes what prevents an index file first: a pipe, a device, a link to one, or a folder that a
 * container runtime made for a missing file. */
static int create_index(struct jw_error *err, struct cache_live *live)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (!os_stat(NULL, live->index_path, &stat) && stat.kind != OS_REGULAR) {
		if (stat.kind != OS_DIRECTORY && os_remove(err, live->index_path))
			return -1;
		if (stat.kind == OS_DIRECTORY && os_remove_empty_dir(err, live->index_path))
			return error_prefix(err, "the cache's index is a folder: move it away");
	}
	if (!os_file_open(&why, live->index_path, OS_OPEN_CREATE, &live->file))
		return 0;
	/* The directory may have been removed since it was opened, or a link may dangle. */
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
	struct os_stat stat;
	bool held = false;

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

int live_unlock(struct jw_error *err, struct cache_live *live)
{
	int result = live->changed ? live_rows_write(err, live) : 0;
	uint64_t now = os_monotonic_ns(), held = live->held_since_ns ? now - live->held_since_ns : 0;

	if (result)
		live_rows_forget(live);
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
		many = live->index.count > MOST_HELD_ROWS && late++ < LATE_TRIES;
		if (many)
			(void)live_unlock(NULL, live);
		if (live_rows_map(err, live))
			goto fail;
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
