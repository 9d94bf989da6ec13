/* jw_cache_clear: removes every file in an entry's place. */
#include <string.h>

#include <jitwarm/cache.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "cache/remove.h"

enum { AT_A_TIME = 256 }; /* entries between two checks for cancellation */

/* Describes the file as it was listed. A file that has changed since stays, and anything but a file
 * always. */
static bool take_removal(const struct jw_cache_listing *list, const struct jw_cache_entry *entry,
						 struct cache_removal *removal)
{
	enum cache_presence presence;

	*removal = (struct cache_removal){.key = entry->key};
	presence = cache_presence(list->path, entry->key, 0, &removal->probed);
	return (presence == CACHE_PRESENT ||
			(presence == CACHE_UNUSABLE && removal->probed.stat.kind == OS_REGULAR)) &&
		   removal->probed.stat.size_bytes == entry->file_bytes &&
		   removal->probed.stat.mtime_ns == entry->mtime_ns;
}

static int remove_all(struct jw_error *err, const struct jw_cache_options *options,
					  struct cache_live *live, struct cache_removal *removals, size_t count,
					  struct jw_cache_cleared *cleared)
{
	for (size_t at = 0; at < count; at += AT_A_TIME) {
		const size_t left = count - at, some = left < AT_A_TIME ? left : AT_A_TIME;
		int failed;

		if (cancel_check(err, &options->cancel))
			return -1;
		failed = cache_remove(err, live, removals + at, some);
		for (size_t i = at; i < at + some; i++) {
			cleared->stayed += removals[i].removed == CACHE_REMOVED_CHANGED;
			if (removals[i].removed != CACHE_REMOVED)
				continue;
			cleared->removed++;
			cleared->removed_bytes += removals[i].probed.stat.size_bytes;
		}
		if (failed)
			return -1;
	}
	return 0;
}

static int clear(struct jw_error *err, const struct jw_cache_options *options,
				 struct cache_removal *removals, size_t count, struct jw_cache_cleared *cleared)
{
	/* Nothing is added, so the limit only decides which files get rows. */
	const struct cache_live_options how = {.limit_bytes = options->limit_bytes};
	struct cache_live *live = NULL;
	int result;

	if (cache_live_open(err, cleared->path, &how, &live))
		return -1;
	result = remove_all(err, options, live, removals, count, cleared);
	if (cache_remove_settle(result ? NULL : err, live))
		result = -1;
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	return result;
}

int jw_cache_clear(struct jw_error *err, const struct jw_cache_options *options, bool dry_run,
				   struct jw_cache_cleared **ret_cleared)
{
	struct jw_cache_cleared *cleared;
	struct jw_cache_listing *list;
	struct cache_removal *removals;
	size_t count = 0;
	int result = 0;

	if (jw_cache_list(err, options, &list))
		return -1;
	cleared = arena_open(sizeof *cleared);
	cleared->path = arena_string(cleared, list->path);
	removals = mem_array(list->count, sizeof *removals);
	for (size_t i = 0; i < list->count; i++) {
		if (!take_removal(list, &list->entries[i], &removals[count])) {
			cleared->stayed++;
			continue;
		}
		cleared->removed += dry_run;
		cleared->removed_bytes += dry_run ? removals[count].probed.stat.size_bytes : 0;
		count++;
	}
	if (count && !dry_run)
		result = clear(err, options, removals, count, cleared);
	mem_free(removals);
	jw_result_free(list);
	if (result)
		jw_result_free(cleared);
	else
		*ret_cleared = cleared;
	return result;
}
