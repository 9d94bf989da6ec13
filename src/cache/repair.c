/* Bringing the rows of an index in line with the files beside it. */
#include <stdlib.h>

#include "base/mem.h"
#include "cache/live.h"
#include "os/clock.h"
#include "os/identity.h"

enum { NEW_INDEX_MS = 10 };

/* Removes rows without a file and corrects rows with another size. A file may have been added since
 * the directory was walked, so a missing one is looked for again, as long as the lock may be held.
 * Returns whether all rows were looked at. */
static bool match_rows(struct cache_live *live, const struct cache_files *scan)
{
	bool complete = true;

	for (size_t i = 0; i < live->index.count; i++) {
		struct cache_row *row = &live->index.rows[i];
		const struct cache_file *file = cache_files_find(scan, row->key);

		if (row->size_bytes == LIVE_GONE)
			continue;
		if (!file && live_must_let_go(live)) {
			complete = false;
		} else if (!file && cache_presence(live->dir, row->key, 0, NULL) == CACHE_ABSENT) {
			live_drop_row(live, i);
			live->counts.dropped++;
		} else if (file && file->row_bytes && file->row_bytes != row->size_bytes) {
			live->rows_bytes += file->row_bytes - row->size_bytes;
			row->size_bytes = file->row_bytes;
			live->changed = true;
			live->counts.mended = true;
		}
	}
	return complete;
}

static int orphan_by_age(const void *a, const void *b)
{
	const struct cache_file *x = *(const struct cache_file *const *)a,
							*y = *(const struct cache_file *const *)b;

	if (x->probed.mtime_ns != y->probed.mtime_ns)
		return x->probed.mtime_ns < y->probed.mtime_ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Writing a new index may take longer, so that few rounds suffice: drivers wait for 200 ms. */
static bool has_time(const struct cache_live *live)
{
	uint64_t held_ns = os_monotonic_ns() - live->held_since_ns;

	return live->index.state == CACHE_INDEX_SOUND ? !live_must_let_go(live)
												  : held_ns < NEW_INDEX_MS * UINT64_C(1000000);
}

/* Whether the index was not written since it was looked at; an eviction or a wipe writes it. A
 * change within one tick of the clock is missed; rows without files do no harm. */
struct index_seen {
	struct os_stat stat;
	bool there;
};

static struct index_seen see_index(const struct cache_live *live)
{
	struct index_seen seen;

	seen.there = !os_stat(NULL, live->index_path, &seen.stat);
	return seen;
}

static bool index_is_untouched(const struct cache_live *live, const struct index_seen *before)
{
	struct index_seen now = see_index(live);

	if (!before->there)
		return live->created;
	return now.there && now.stat.inode == before->stat.inode &&
		   now.stat.mtime_ns == before->stat.mtime_ns &&
		   now.stat.size_bytes == before->stat.size_bytes;
}

/* Adds rows for files that have none, the oldest first, up to the limit: past it the driver would
 * evict at its next insert, while files without rows do no harm. *complete is false if time ran
 * out. `look_again`: a file may be gone since the directory was walked. */
static int count_orphans(struct jw_error *err, struct cache_live *live,
						 const struct cache_files *scan, bool look_again, bool *complete)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	const struct cache_file **orphans =
		mem_array(err, scan->count, sizeof(const struct cache_file *));
	size_t count = 0;
	int result = 0;

	if (!orphans)
		return -1;
	for (size_t i = 0; i < scan->count; i++)
		if (scan->files[i].row_bytes && live_row(live, scan->files[i].key) == SET_NONE)
			orphans[count++] = &scan->files[i];
	/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
	qsort(orphans, count, sizeof *orphans, orphan_by_age);
	for (size_t i = 0; !result && i < count; i++) {
		uint64_t row_bytes = orphans[i]->row_bytes;

		if (live->rows_bytes > live->options.limit_bytes ||
			row_bytes > live->options.limit_bytes - live->rows_bytes)
			break;
		if (!has_time(live)) {
			*complete = false;
			break;
		}
		if (look_again && cache_presence(live->dir, orphans[i]->key, 0, NULL) != CACHE_PRESENT)
			continue;
		result = live_put_row(err, live, orphans[i]->key, row_bytes);
		live->counts.counted += !result;
	}
	mem_free(orphans);
	return result;
}

int live_repair(struct jw_error *err, struct cache_live *live)
{
	const struct index_seen before = see_index(live);
	struct cache_files scan = {0};
	bool complete;
	int result = -1;

	if (cache_files_scan(err, live->dir, &scan) || live_lock(err, live))
		goto done;
	complete = match_rows(live, &scan);
	if (count_orphans(err, live, &scan, !index_is_untouched(live, &before), &complete)) {
		live_abandon(live);
		goto done;
	}
	result = live_unlock(err, live);
	live->repaired = !result && complete;
done:
	cache_files_free(&scan);
	return result;
}

int live_lock_sound(struct jw_error *err, struct cache_live *live)
{
	for (int tries = 0; tries < 3; tries++) {
		if (!live->repaired && live_repair(err, live))
			return -1;
		if (live_lock(err, live))
			return -1;
		if (live->index.state == CACHE_INDEX_SOUND)
			return 0;
		live_abandon(live);
		live->repaired = false;
	}
	return error_set(err, JW_ERR_BUSY, "%s: does not become sound: something else writes to it",
					 live->index_path);
}

int cache_repair(struct jw_error *err, struct cache_live *live)
{
	int result;

	if (live->as_owner && live_enter(err, live))
		return -1;
	result = live_repair(err, live);
	if (live->as_owner)
		os_act_as_self();
	return result;
}
