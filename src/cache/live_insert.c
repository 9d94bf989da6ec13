/* Opens a cache, makes room, and puts entries in place: cache/insert.h has the contract. */
#include "cache/insert.h"

#include <string.h>

#include <sodium.h>
#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/live.h"
#include "cache/sound.h"
#include "cache/staging.h"
#include "cache/view.h"
#include "os/claimed.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/uv.h"

/* Checks one path; returns 0 and clears *ret_there if it is missing, because it will be made. */
static int try_one(struct jw_error *err, const char *path, bool *ret_there)
{
	struct jw_error why = {0};

	*ret_there = !os_may_write(&why, path);
	return *ret_there || why.code == JW_ERR_NOT_FOUND ? 0 : error_copy(err, &why);
}

/* Checks the folders 0 to f, and the folders in each of them. A program that ran as root may have
 * made a folder that belongs to root, in anybody's cache. */
static int try_parts(struct jw_error *err, const char *folder, unsigned levels)
{
	int result = 0;

	for (unsigned i = 0; !result && i < 16; i++) {
		char *part = os_join(folder, (const char[]){"0123456789abcdef"[i], '\0'});
		bool there;

		result = try_one(err, part, &there);
		if (!result && there && levels > 1)
			result = try_parts(err, part, levels - 1);
		mem_free(part);
	}
	return result;
}

/* The most additions, and their bytes, that may wait beside the tree at a time. */
enum { MAX_STAGED = 64, MAX_STAGED_BYTES = 256 << 20 };

/* Returns the permission bits of group and others if they may enter the directory and list it. */
static uint32_t shared_bits(uint32_t mode)
{
	uint32_t shared = 0;

	if ((mode & 050) == 050)
		shared |= mode & 070;
	if ((mode & 005) == 005)
		shared |= mode & 007;
	return shared;
}

static int check_live_directory(struct jw_error *err, struct cache_live *live)
{
	const uint32_t new_mode = live->options.new_mode;
	const char *dir = live->dir;
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, dir, &stat)) {
		if (error_unless_missing(err, &why))
			return -1;
		live->shared = shared_bits(new_mode);
		/* Other accounts must be able to reach the entries. */
		return new_mode ? os_make_shared_dirs(err, dir, new_mode) : os_make_dirs(err, dir, 0700);
	}
	if (stat.kind != OS_DIRECTORY)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: is not a directory, so the driver cannot cache", dir);
	if (cache_is_alien(dir))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: not a driver's index, and no entries are beside it: name another "
						 "folder as the cache, or delete that file",
						 live->index_path);
	live->shared = shared_bits(stat.mode);
	/* Removes what killed processes left beside the tree. */
	os_sweep_claimed(dir, CACHE_STAGING_PREFIX);
	return 0;
}

static struct cache_live *new_live(const char *dir, const struct cache_live_options *options)
{
	struct cache_live *live = mem_alloc(sizeof *live);

	live->options = *options;
	if (!live->options.lock_wait_ms)
		live->options.lock_wait_ms = CACHE_LOCK_WAIT_MS;
	live->dir = mem_string(dir);
	live->index_path = os_join(dir, "index");
	live->staging = mem_printf("%s/" CACHE_STAGING_PREFIX "%d-%u", dir, (int)uv_os_getpid(),
							   (unsigned)randombytes_random());
	os_mutex_make(&live->staging_mutex);
	return live;
}

int cache_live_open(struct jw_error *err, const char *dir, const struct cache_live_options *options,
					struct cache_live **ret_live)
{
	struct cache_live *live = new_live(dir, options);

	if (check_live_directory(err, live)) {
		(void)cache_live_close(NULL, live);
		return -1;
	}
	*ret_live = live;
	return 0;
}

int cache_live_try(struct jw_error *err, const char *dir, const struct cache_live_options *options)
{
	struct cache_live *live = new_live(dir, options);
	bool there;
	int result = -1;

	if (!os_may_make(err, dir) && !try_one(err, live->index_path, &there))
		result = try_parts(err, dir, 2);
	(void)cache_live_close(NULL, live);
	return result;
}

void cache_keep(struct cache_live *live, uint64_t key)
{
	set_add(&live->own_keys, key, 0);
}

/* Restores our rows that a driver's late write has removed, which are those of the last seconds
 * before it, however long reading the index then takes. Restores as many as fit into one hold of
 * the lock, and at least one. */
static int restore_own(struct jw_error *err, struct cache_live *live)
{
	const uint64_t recent_ns = UINT64_C(10000000000), limit = live->options.limit_bytes;

	if (!live->undone)
		return 0;
	for (size_t i = live->own_count;
		 i-- > 0 && live->undone_since_ns < live->own[i].added_ns + recent_ns;) {
		const struct live_own *own = &live->own[i];
		const size_t row = live_row(live, own->key);
		const uint64_t counted = row != SET_NONE ? live->index.rows[row].size_bytes : 0;
		const uint64_t others = live->rows.bytes - counted;
		struct cache_probed probed;
		uint64_t row_bytes;

		/* The driver's rows may count the entry that this one replaced. */
		if (counted == own->row_bytes || others > limit || own->row_bytes > limit - others ||
			cache_presence(live->dir, own->key, NULL, &probed) != CACHE_PRESENT)
			continue;
		row_bytes = probed.key_bytes + probed.value_bytes;
		if (row_bytes == counted || row_bytes > limit - others)
			continue;
		if (live_put_row(err, live, own->key, row_bytes))
			return -1;
		live->counts.restored++;
		if (live_must_let_go(live))
			return 0;
	}
	live->undone = false;
	return 0;
}

static int no_room(struct jw_error *err, const struct cache_live *live, uint64_t wanted)
{
	char more[TEXT_SHORT], used[TEXT_SHORT], limit[TEXT_SHORT];

	return error_set(err, JW_ERR_LIMIT,
					 "%s: no space for another %s: the cache uses %s of at most %s; raise the "
					 "limit with “jitwarm tune --apply”",
					 live->dir, text_bytes(more, wanted), text_bytes(used, live->rows.bytes),
					 text_bytes(limit, live->options.limit_bytes));
}

/* Returns whether the driver with this stamp may use the entry: it is that driver's own, or its
 * driver is unknown. */
static bool entry_is_of(const char *path, const char *stamp)
{
	struct cache_brief *brief = mem_alloc(sizeof *brief);
	struct os_file *file = NULL;
	struct cache_key_parts parts;
	bool its = true;

	if (stamp && *stamp && !os_file_open(NULL, path, OS_OPEN_READ, &file))
		its = cache_brief_open(file, brief) == CACHE_SOUND && cache_brief_split(brief, &parts) &&
			  !strcmp(parts.stamp, stamp);
	os_file_close(file);
	mem_free(brief);
	return its;
}

static int evict(struct jw_error *err, struct cache_live *live, size_t at)
{
	char *path = cache_entry_path(live->dir, live->index.rows[at].key);
	struct jw_error why = {0};
	struct os_stat stat;
	const bool used = !os_stat(NULL, path, &stat) && stat.kind == OS_REGULAR &&
					  entry_is_of(path, live->options.stamp);
	int result = os_remove(&why, path);

	/* A folder at an entry's place is not an entry: it stays, and the row is removed. */
	if (result && !os_stat(NULL, path, &stat) && stat.kind == OS_DIRECTORY)
		result = 0;
	mem_free(path);
	if (result)
		return error_copy(err, &why);
	live->counts.evicted_bytes += live->index.rows[at].size_bytes;
	live->counts.evicted++;
	live->counts.evicted_in_use += used;
	live_drop_row(live, at);
	return 0;
}

/* Evicts from the front, as the driver does, files first: a row without a file does no harm.
 * *ret_late is set if the lock was held long enough and work is left. */
static int evict_for(struct jw_error *err, struct cache_live *live, uint64_t key, uint64_t wanted,
					 bool *ret_late)
{
	uint64_t limit = live->options.limit_bytes, freed = 0;
	size_t old = live_row(live, key), *oldest = &live->rows.oldest;

	*ret_late = false;
	if (old != SET_NONE)
		freed = live->index.rows[old].size_bytes;
	if (wanted > limit)
		return no_room(err, live, wanted);
	for (size_t i = *oldest; live->rows.bytes - freed > limit - wanted; i++) {
		const struct cache_row *row;

		if (live->options.when_full == CACHE_FULL_REFUSE || i == live->index.count)
			return no_room(err, live, wanted);
		row = &live->index.rows[i];
		if (row->size_bytes == LIVE_GONE || set_has(&live->own_keys, row->key)) {
			*oldest += *oldest == i;
		} else if (i != old) {
			if (evict(err, live, i))
				return -1;
			if (live_must_let_go(live)) {
				*ret_late = live->rows.bytes - freed > limit - wanted;
				return 0;
			}
		}
	}
	return 0;
}

/* Moves the entry to its place. A driver or program that empties the cache may remove the folder at
 * any moment, with or without the lock. */
static int move(struct jw_error *err, const struct cache_live *live,
				const struct live_staged *staged)
{
	enum { MAX_TRIES = 8 };

	for (int tries = 1;; tries++) {
		struct jw_error why = {0};
		struct os_stat stat;

		if (!os_rename(&why, staged->path, staged->target))
			return 0;
		/* An empty folder in the entry's place, such as a backup leaves, is nobody's. */
		if (tries < MAX_TRIES && !os_remove_empty_dir(NULL, staged->target))
			continue;
		if (!os_stat(NULL, staged->target, &stat) && stat.kind == OS_DIRECTORY)
			return error_set(err, JW_ERR_IO,
							 "%s: a folder with files, where an entry belongs: move it away",
							 staged->target);
		if (why.code != JW_ERR_NOT_FOUND || tries == MAX_TRIES)
			return error_copy(err, &why);
		if (os_make_shared_parent(err, staged->target, 0700 | live->shared))
			return -1;
	}
}

static int commit_one(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
					  bool *ret_late)
{
	struct cache_addition *addition = staged->addition;
	const uint64_t key = addition->key, row_bytes = addition->row_bytes;
	const bool same = !staged->path;
	struct jw_error why = {0};
	struct os_stat stat;
	uint64_t counted;

	/* An earlier addition, or another process, has taken the name since the entry was staged. */
	if (!same && !staged->replaces && os_exists(staged->target) && staging_is_taken(live, staged))
		return 0;
	if (evict_for(err, live, key, row_bytes, ret_late))
		return -1;
	if (*ret_late)
		return 0;
	if (same && os_stat(&why, staged->target, &stat))
		return why.code == JW_ERR_NOT_FOUND
				   ? error_set(err, JW_ERR_BUSY, "%s: was removed while it was compared",
							   staged->target)
				   : error_copy(err, &why);
	if (!same && move(err, live, staged))
		return -1;
	staged->moved = true;
	counted = live->rows.bytes;
	if (live_put_row(err, live, key, row_bytes))
		return -1;
	VEC_GROW(live->own, live->own_capacity, live->own_count);
	set_add(&live->own_keys, key, live->own_count);
	live->own[live->own_count++] = (struct live_own){key, row_bytes, os_monotonic_ns()};
	addition->grown_bytes = same ? 0 : (int64_t)(live->rows.bytes - counted);
	addition->added = same               ? CACHE_ADDED_SAME
					  : staged->replaces ? CACHE_ADDED_REPLACED
										 : CACHE_ADDED_NEW;
	return 0;
}

/* Commits as many entries as fit into one hold of the lock. An entry in place gets its row even if
 * another fails. */
static int commit(struct jw_error *err, struct cache_live *live, struct live_staged *staged,
				  size_t count)
{
	for (size_t done = 0, holds = 0; done < count; holds++) {
		bool late = false;
		int result;

		if (holds)
			uv_sleep(CACHE_HOLD_MS);
		if (live_lock_sound(err, live))
			return -1;
		result = restore_own(err, live);
		while (!result && !late && done < count) {
			result = commit_one(err, live, &staged[done], &late);
			done += !result && !late;
			late = late || live_must_let_go(live);
		}
		if (live_unlock(result ? NULL : err, live) || result)
			return -1;
	}
	return 0;
}

/* Verifies and writes as many entries as may wait beside the tree. *ret_staged is their number, and
 * *ret_used includes those that were refused. Two threads write entries in parts, several at a
 * time. */
static int stage_batch(struct jw_error *err, struct cache_live *live,
					   struct cache_addition *additions, size_t count, struct live_staged *staged,
					   size_t *ret_staged, size_t *ret_used)
{
	uint64_t bytes = 0;
	size_t filled = 0, used = 0, together = 0;
	int result = 0;

	while (together < count && together < MAX_STAGED && additions[together].parts)
		together++;
	if (together > 1) {
		*ret_used = together;
		return stage_parts(err, live, additions, together, staged, ret_staged);
	}
	while (!result && used < count && filled < MAX_STAGED && bytes < MAX_STAGED_BYTES) {
		struct cache_addition *addition = &additions[used];

		result = addition->path ? stage_file(err, live, addition, filled, &staged[filled])
								: stage_memory(err, live, addition, filled, &staged[filled]);
		bytes += addition->row_bytes;
		filled += staged[filled].target != NULL;
		used += !result;
	}
	*ret_staged = filled;
	*ret_used = used;
	return result;
}

int cache_insert(struct jw_error *err, struct cache_live *live, struct cache_addition *additions,
				 size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		additions[i].added = CACHE_ADDED_NOT;
		additions[i].grown_bytes = 0;
		additions[i].why = (struct jw_error){0};
	}
	for (size_t at = 0, used = 0; !result && at < count; at += used) {
		struct live_staged staged[MAX_STAGED] = {0};
		size_t filled = 0;

		result = stage_batch(err, live, additions + at, count - at, staged, &filled, &used);
		/* Inserts the entries that were staged before a failure. */
		if (commit(result ? NULL : err, live, staged, filled))
			result = -1;
		for (size_t i = 0; i < filled; i++)
			staging_end(&staged[i]);
		for (size_t i = at; i < at + used; i++) {
			live->outcomes[additions[i].added]++;
			live->counts.grown_bytes += additions[i].grown_bytes;
		}
	}
	return result;
}

void cache_live_counts(const struct cache_live *live, struct cache_live_counts *ret_counts)
{
	*ret_counts = live->counts;
	ret_counts->added = live->outcomes[CACHE_ADDED_NEW];
	ret_counts->replaced = live->outcomes[CACHE_ADDED_REPLACED];
	ret_counts->same = live->outcomes[CACHE_ADDED_SAME];
	ret_counts->refused = live->outcomes[CACHE_ADDED_REFUSED] + live->outcomes[CACHE_ADDED_TAKEN];
}

/* Checks our rows again a while later, since a driver that had the lock just before may still be
 * writing its index over them. */
static int settle_rows(struct jw_error *err, struct cache_live *live)
{
	uint64_t since_ms = (os_monotonic_ns() - live->released_ns) / 1000000;

	if (!live->own_count)
		return 0;
	if (since_ms < LIVE_LATE_WRITE_MS)
		uv_sleep((unsigned)(LIVE_LATE_WRITE_MS - since_ms));
	do {
		if (live_lock_sound(err, live))
			return -1;
		if (restore_own(err, live)) {
			live_abandon(live);
			return -1;
		}
		if (live_unlock(err, live))
			return -1;
		if (live->undone)
			uv_sleep(CACHE_HOLD_MS);
	} while (live->undone);
	return 0;
}

int cache_live_close(struct jw_error *err, struct cache_live *live)
{
	int result;

	if (!live)
		return 0;
	result = settle_rows(err, live);
	(void)os_remove_tree(NULL, live->staging);
	os_unclaim(live->staging, live->staging_lock);
	uv_mutex_destroy(&live->staging_mutex);
	mem_free(live->staging);
	mem_free(live->dir);
	mem_free(live->index_path);
	live_rows_free(live);
	mem_free(live->own);
	set_free(&live->own_keys);
	mem_free(live);
	return result;
}
