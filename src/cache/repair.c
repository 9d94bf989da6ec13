/* Makes the rows of an index agree with the files beside it: compares without the lock, changes
 * under it, a few milliseconds at a time. */
#include <stdlib.h>

#include <uv.h>

#include "base/mem.h"
#include "cache/live.h"

/* What to do about a row or a file, in this order. */
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
	bool look_again; /* another process has written to the index since the files were compared */
};

static int add_task(struct jw_error *err, struct repair *repair, struct repair_task task)
{
	if (VEC_ROOM(err, repair->tasks, repair->capacity, repair->count,
				 (size_t)CACHE_MOST_ROWS + CACHE_MOST_FILES))
		return -1;
	repair->tasks[repair->count++] = task;
	return 0;
}

/* The size that an entry counts with; 0 if it is absent or damaged. */
static uint64_t probe_row_bytes(const struct repair *repair, uint64_t key)
{
	struct cache_probed probed;

	return cache_presence(repair->live->dir, key, 0, &probed) == CACHE_PRESENT
			   ? probed.key_bytes + probed.value_bytes
			   : 0;
}

static int compare_row(struct jw_error *err, struct repair *repair, const struct cache_row *row,
					   const struct cache_file *file)
{
	struct repair_task task = {.kind = REPAIR_DROP, .key = row->key};

	if (row->size_bytes == LIVE_GONE ||
		(file && file->probed.size_bytes - CACHE_ENTRY_HEADER == row->size_bytes))
		return 0;
	if (file) {
		task.kind = REPAIR_SIZE;
		task.row_bytes = probe_row_bytes(repair, row->key);
		if (!task.row_bytes || task.row_bytes == row->size_bytes)
			return 0;
	}
	return add_task(err, repair, task);
}

static int compare_file(struct jw_error *err, struct repair *repair, const struct cache_file *file)
{
	struct repair_task task = {
		.kind = REPAIR_COUNT, .key = file->key, .mtime_ns = file->probed.mtime_ns};

	if (live_row(repair->live, file->key) != SET_NONE)
		return 0;
	task.row_bytes = probe_row_bytes(repair, file->key);
	return task.row_bytes ? add_task(err, repair, task) : 0;
}

/* Files without a row, oldest first. */
static int by_turn(const void *a, const void *b)
{
	const struct repair_task *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns < y->mtime_ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Compares with the rows at the last hold. */
static int compare_repaired(struct jw_error *err, struct repair *repair)
{
	const struct cache_index *index = &repair->live->index;
	struct cache_files scan = {0};
	int result = cache_files_sizes(err, repair->live->dir, &scan);

	for (size_t i = 0; !result && i < index->count; i++)
		result =
			compare_row(err, repair, &index->rows[i], cache_files_find(&scan, index->rows[i].key));
	for (size_t i = 0; !result && i < scan.count; i++)
		result = compare_file(err, repair, &scan.files[i]);
	if (repair->count)
		qsort(repair->tasks, repair->count, sizeof *repair->tasks, by_turn);
	cache_files_free(&scan);
	return result;
}

static void correct_row(struct repair *repair, const struct repair_task *task, size_t row)
{
	struct cache_live *live = repair->live;
	uint64_t row_bytes = task->row_bytes;

	if (repair->look_again)
		row_bytes = probe_row_bytes(repair, task->key);
	if (!row_bytes || row_bytes == live->index.rows[row].size_bytes)
		return;
	live_resize_row(live, row, row_bytes);
	live->counts.mended = true;
}

/* Beyond the limit the driver would evict at its next insert, while files without rows do no harm.
 */
static bool is_past_limit(const struct cache_live *live, uint64_t row_bytes)
{
	return live->rows.bytes > live->options.limit_bytes ||
		   row_bytes > live->options.limit_bytes - live->rows.bytes;
}

static int do_task(struct jw_error *err, struct repair *repair, const struct repair_task *task)
{
	struct cache_live *live = repair->live;
	size_t row = live_row(live, task->key);
	int result;

	switch (task->kind) {
	case REPAIR_DROP:
		/* A file may have been added since the directory was walked. */
		if (row != SET_NONE && cache_presence(live->dir, task->key, 0, NULL) == CACHE_ABSENT) {
			live_drop_row(live, row);
			live->counts.dropped++;
		}
		break;
	case REPAIR_SIZE:
		if (row != SET_NONE)
			correct_row(repair, task, row);
		break;
	case REPAIR_COUNT:
		if (is_past_limit(live, task->row_bytes)) {
			repair->next = repair->count;
			break;
		}
		if (row != SET_NONE || (repair->look_again && !probe_row_bytes(repair, task->key)))
			break;
		result = live_put_row(err, live, task->key, task->row_bytes);
		live->counts.counted += !result;
		return result;
	}
	return 0;
}

/* Does as many as one hold of the lock allows. */
static int do_some(struct jw_error *err, struct repair *repair)
{
	struct cache_live *live = repair->live;
	int result = 0;

	if (live_lock(err, live))
		return -1;
	repair->look_again = repair->look_again || live->others;
	while (!result && repair->next < repair->count) {
		result = do_task(err, repair, &repair->tasks[repair->next]);
		/* The limit ends the rest. */
		repair->next += repair->next < repair->count;
		if (live_must_let_go(live))
			break;
	}
	if (result) {
		live_abandon(live);
		return -1;
	}
	return live_unlock(err, live);
}

int live_repair(struct jw_error *err, struct cache_live *live)
{
	struct repair repair = {.live = live};
	int result = -1;

	/* From here on the index is sound: no driver wipes while files are compared. */
	if (live_lock(err, live) || live_unlock(err, live) || compare_repaired(err, &repair))
		goto done;
	while (repair.next < repair.count) {
		if (repair.next)
			uv_sleep(CACHE_HOLD_MS);
		if (do_some(err, &repair))
			goto done;
	}
	live->repaired = true;
	result = 0;
done:
	mem_free(repair.tasks);
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
	return error_set(err, JW_ERR_BUSY, "%s: does not become sound: another program writes to it",
					 live->index_path);
}

int cache_repair(struct jw_error *err, struct cache_live *live)
{
	int result;

	if (live->as_account && os_act_as_account(err, live->options.account))
		return -1;
	result = live_repair(err, live);
	if (live->as_account)
		os_act_as_self();
	return result;
}
