#include "cache/remove.h"

#include <string.h>

#include <uv.h>

#include <jitwarm/cache.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "cache/index.h"
#include "cache/live.h"
#include "os/file.h"

/* Returns whether a file is unchanged according to size, time and header. */
static bool cache_probed_equal(const struct cache_probed *a, const struct cache_probed *b)
{
	return a->stat.size_bytes == b->stat.size_bytes && a->stat.mtime_ns == b->stat.mtime_ns &&
		   a->key_bytes == b->key_bytes && a->value_bytes == b->value_bytes &&
		   a->checksum == b->checksum && a->damage == b->damage;
}

/* Removes one entry. No entry is half written now, because drivers write entries while they hold
 * the lock, which we hold. */
static int remove_one(struct jw_error *err, struct cache_live *live, struct cache_removal *removal)
{
	struct cache_probed now;
	size_t row;
	char *path;
	int result;

	if (cache_presence(live->dir, removal->key, NULL, &now) == CACHE_ABSENT) {
		removal->removed = CACHE_REMOVED_GONE;
	} else if (!cache_probed_equal(&now, &removal->probed)) {
		removal->removed = CACHE_REMOVED_CHANGED;
		return 0;
	} else {
		path = cache_entry_path(live->dir, removal->key);
		if (now.damage == CACHE_DAMAGE_FOLDER) {
			/* One with files in it is somebody's. */
			if (!os_remove_empty_dir(NULL, path))
				removal->removed = CACHE_REMOVED;
			result = 0;
		} else {
			result = os_remove(err, path);
			removal->removed = result ? removal->removed : CACHE_REMOVED;
		}
		mem_free(path);
		if (result)
			return -1;
	}
	row = live_row(live, removal->key);
	if (row != SET_NONE)
		live_drop_row(live, row);
	return 0;
}

/* Removes as many entries at a time as fit into one hold of the lock. The rows of removed files go
 * even if others fail. */
int cache_remove(struct jw_error *err, struct cache_live *live, struct cache_removal *removals,
				 size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count; i++)
		removals[i].removed = CACHE_REMOVED_NOT;
	for (size_t at = 0; !result && at < count;) {
		const size_t first = at;

		if (live_lock_sound(err, live))
			return -1;
		while (!result && at < count && (at == first || !live_must_let_go(live))) {
			result = remove_one(err, live, &removals[at]);
			at += !result;
		}
		if (live_unlock(result ? NULL : err, live))
			result = -1;
		if (!result && at < count)
			uv_sleep(CACHE_HOLD_MS);
	}
	return result;
}

int cache_remove_settle(struct jw_error *err, struct cache_live *live)
{
	uv_sleep(LIVE_LATE_WRITE_MS);
	return cache_repair(err, live);
}

/* jw_cache_repair: removes torn entries and makes the index agree with the files. */

/* Returns whether an entry is blank: version 0 followed by zeros is a file whose size was written
 * and whose bytes were not (power loss). Any other version may be a future format. */
static bool is_blank_entry(const char *dir, uint64_t key)
{
	static const uint8_t zeros[CACHE_ENTRY_HEADER];
	uint8_t header[CACHE_ENTRY_HEADER];
	struct os_file *file = NULL;
	size_t got;
	char *path = cache_entry_path(dir, key);
	bool blank = !os_file_open(NULL, path, OS_OPEN_READ, &file) &&
				 !os_file_read(NULL, file, 0, header, sizeof header, &got) &&
				 got == sizeof header && !memcmp(header, zeros, sizeof zeros);

	os_file_close(file);
	mem_free(path);
	return blank;
}

bool repair_may_remove(const char *dir, struct sound_driver driver, uint64_t key,
					   struct cache_removal *ret_removal)
{
	struct cache_removal removal = {.key = key};
	struct cache_probed after;
	enum cache_damage damage;

	if (cache_presence(dir, key, NULL, &removal.probed) == CACHE_ABSENT)
		return false;
	/* An unreadable entry may be sound. */
	if (removal.probed.damage == CACHE_DAMAGE_READ)
		return false;
	damage = removal.probed.damage;
	if (damage == CACHE_SOUND) {
		damage = cache_sound(dir, driver, key);
		if (damage == CACHE_SOUND || damage == CACHE_DAMAGE_READ)
			return false;
		/* An entry that changed while it was read is being written. */
		if (cache_presence(dir, key, NULL, &after) == CACHE_ABSENT ||
			!cache_probed_equal(&after, &removal.probed))
			return false;
	}
	if (damage == CACHE_DAMAGE_VERSION && !is_blank_entry(dir, key))
		return false;
	*ret_removal = removal;
	return true;
}

static int mend(struct jw_error *err, const struct jw_cache_options *options,
				const struct jw_cache_report *report, struct jw_cache_repaired *repaired)
{
	const struct cache_live_options how = {.limit_bytes = report->limit_bytes};
	struct cache_removal *removals = mem_array(report->damaged, sizeof *removals);
	struct cache_live_counts counts;
	struct cache_live *live = NULL;
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; !result && i < report->damaged; i++) {
		result = cancel_check(err, &options->cancel);
		if (!result)
			count += repair_may_remove(report->path, sound_driver_of(options->driver),
									   report->damaged_entries[i].key, &removals[count]);
	}
	if (!result)
		result = cache_live_open(err, report->path, &how, &live);
	if (!result)
		result = cache_remove(err, live, removals, count);
	if (!result)
		result = cache_remove_settle(err, live);
	if (!result) {
		cache_live_counts(live, &counts);
		for (size_t i = 0; i < count; i++)
			repaired->removed += removals[i].removed == CACHE_REMOVED;
		repaired->counted = counts.counted;
		repaired->dropped = counts.dropped;
		repaired->mended = counts.mended;
		repaired->longest_hold_ns = counts.longest_hold_ns;
	}
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	mem_free(removals);
	return result;
}

/* Returns whether the cache needs a repair; a sound one is not written to. */
static bool needs_repair(const struct jw_cache_report *report)
{
	return report->outlook.harmful ||
		   ((report->entries || report->rows) &&
			(report->damaged || report->rows_without_file || report->files_without_row ||
			 report->rows_repeated || report->rows_of_other_size ||
			 report->index_bytes != report->rows_bytes));
}

int jw_cache_repair(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_repaired *ret_repaired)
{
	struct jw_cache_repaired repaired = {0};
	struct jw_cache_report *report = NULL;
	int result = 0;

	if (jw_cache_verify(err, options, &report))
		return -1;
	if (needs_repair(report))
		result = mend(err, options, report, &repaired);
	jw_result_free(report);
	if (!result)
		*ret_repaired = repaired;
	return result;
}
