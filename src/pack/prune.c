/* jw_prune: chooses entries by driver and age, and removes them from the cache. */
#include <jitwarm/prune.h>

#include <string.h>

#include <jitwarm/cache.h>

#include "base/arena.h"
#include "base/cancel.h"
#include "cache/former.h"
#include "cache/remove.h"
#include "os/clock.h"
#include "pack/ledger.h"

enum {
	MAX_GROUPS = 4096,
	AT_A_TIME = 256, /* entries between two checks for cancellation */
};

struct prune {
	const struct jw_prune_options *options;
	struct jw_prune_result *result;
	struct former_drivers drivers;
	struct jw_cache_listing *list;
	struct cache_removal
		*chosen; /* in the order in which the files were listed, the driver's order of eviction */
	size_t chosen_count, group_capacity, staying_capacity;
};

static bool is_named_driver(const struct jw_prune_options *options, const char *driver)
{
	const char *release = jw_cache_driver_of_stamp(driver);

	for (size_t i = 0; *driver && i < options->driver_count; i++)
		if (!strcmp(options->drivers[i], driver) ||
			(release && !strcmp(options->drivers[i], release)))
			return true;
	return false;
}

/* Judges the driver that made the entry: known or not, still in use or not. An unknown driver's
 * entries are removed only by its stamp. */
static enum former_verdict maker_of(const struct prune *prune, const struct jw_cache_entry *entry)
{
	return entry->kind == JW_CACHE_OTHER || entry->form == JW_CACHE_JITLINK
			   ? FORMER_UNKNOWN
			   : former_of(&prune->drivers, entry->driver);
}

static bool is_chosen(const struct prune *prune, const struct jw_cache_entry *entry)
{
	const struct jw_prune_options *options = prune->options;

	if (options->all)
		return true;
	if (entry->kind == JW_CACHE_OTHER)
		return false;
	if (options->older_s && entry->mtime_ns / 1000000000 >= os_now_s() - (int64_t)options->older_s)
		return false;
	if (is_named_driver(options, entry->driver))
		return true;
	if (maker_of(prune, entry) == FORMER_UNKNOWN)
		return false;
	return options->former_drivers ? maker_of(prune, entry) == FORMER_FORMER
								   : !options->driver_count; /* chosen only by age */
}

static bool is_same_group(const void *element, const void *like)
{
	const struct jw_prune_group *a = element, *b = like;

	return a->target.sm == b->target.sm && a->newer == b->newer && !strcmp(a->driver, b->driver);
}

/* Counts an entry in its group. Groups beyond MAX_GROUPS are not listed. */
static void count_in_group(const struct mem_list *groups, const struct jw_cache_entry *entry,
						   bool newer)
{
	struct jw_prune_group like = {.target = entry->target, .newer = newer}, *group;
	size_t at;

	memcpy(like.driver, entry->driver, sizeof like.driver);
	at = mem_find_or_add(groups, &like, is_same_group);
	group = (struct jw_prune_group *)*groups->array + at;
	if (at < MAX_GROUPS) {
		group->entries++;
		group->bytes += entry->file_bytes;
	}
}

/* Chooses the file as it was listed. A file that has changed since is skipped this time, and
 * anything but a file always. */
static bool take_removal(const struct prune *prune, const struct jw_cache_entry *entry,
						 struct cache_removal *removal)
{
	enum cache_presence presence;

	*removal = (struct cache_removal){.key = entry->key};
	presence = cache_presence(prune->list->path, entry->key, 0, &removal->probed);
	return (presence == CACHE_PRESENT || (presence == CACHE_UNUSABLE && prune->options->all &&
										  removal->probed.stat.kind == OS_REGULAR)) &&
		   removal->probed.stat.size_bytes == entry->file_bytes &&
		   removal->probed.stat.mtime_ns == entry->mtime_ns;
}

/* Chooses the entries to remove, and counts by group those that go and those that stay. */
static void choose_entries(struct prune *prune)
{
	struct jw_prune_result *result = prune->result;
	const struct mem_list groups = VEC_LIST(result->groups, result->group_count,
											prune->group_capacity, MAX_GROUPS),
						  staying = VEC_LIST(result->staying, result->staying_count,
											 prune->staying_capacity, MAX_GROUPS);

	const bool all = prune->options->all;

	prune->chosen = mem_array(prune->list->count, sizeof *prune->chosen);
	for (size_t i = 0; i < prune->list->count; i++) {
		const struct jw_cache_entry *entry = &prune->list->entries[i];
		const enum former_verdict maker = maker_of(prune, entry);
		const bool newer = prune->options->former_drivers && maker == FORMER_NEWER;

		result->entries++;
		result->bytes += entry->file_bytes;
		if (entry->damaged && !all) {
			result->not_judged++;
		} else if (is_chosen(prune, entry)) {
			if (!take_removal(prune, entry, &prune->chosen[prune->chosen_count])) {
				result->not_judged += all;
				continue;
			}
			prune->chosen_count++;
			result->chosen_entries++;
			result->chosen_bytes += entry->file_bytes;
			count_in_group(&groups, entry, /* newer= */ false);
		} else if (newer || maker == FORMER_UNKNOWN) {
			count_in_group(&staying, entry, newer);
		}
	}
	(void)arena_keep(result, result->groups);
	(void)arena_keep(result, result->staying);
}

static int read_cache_drivers(struct jw_error *err, struct prune *prune)
{
	const struct jw_system *system = prune->options->system;
	struct ledger ledger;
	int result = former_read(err, system->state_dir, system->driver.stamp,
							 system->driver.version.release, &prune->drivers);

	if (result)
		return -1;
	ledger_open(&ledger, system->state_dir, prune->list->path);
	for (size_t i = 0; !result && i < ledger.stamp_count; i++)
		result =
			(ledger.ahead[i] ? former_spare : former_add)(err, &prune->drivers, ledger.stamps[i]);
	ledger_close(&ledger);
	return result;
}

/* Fills in the result's choice, which the caller owns also on failure. */
static int find_chosen(struct jw_error *err, struct prune *prune)
{
	const struct jw_prune_options *options = prune->options;
	const struct jw_system *system = options->system;
	const struct jw_cache_options look = {.path = options->cache_dir,
										  .limit_bytes = system->cache.limit_bytes,
										  .cancel = options->cancel,
										  .driver = &system->driver};

	if (options->former_drivers &&
		(!system->driver.stamp[0] || system->driver.trust == JW_TRUST_OPAQUE))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "jitwarm does not know this machine's driver, nor which drivers are "
						 "former ones: name these with --driver");
	if (jw_cache_list(err, &look, &prune->list) || read_cache_drivers(err, prune))
		return -1;
	prune->result->path = arena_string(prune->result, prune->list->path);
	choose_entries(prune);
	return 0;
}

static int remove_chosen(struct jw_error *err, struct prune *prune, struct cache_live *live)
{
	struct jw_prune_result *result = prune->result;

	for (size_t at = 0; at < prune->chosen_count; at += AT_A_TIME) {
		const struct cache_removal *removals = prune->chosen + at;
		const size_t left = prune->chosen_count - at, count = left < AT_A_TIME ? left : AT_A_TIME;
		int failed;

		if (cancel_check(err, &prune->options->cancel))
			return -1;
		failed = cache_remove(err, live, prune->chosen + at, count);
		for (size_t i = 0; i < count; i++) {
			result->changed += removals[i].removed == CACHE_REMOVED_CHANGED;
			result->removed += removals[i].removed == CACHE_REMOVED;
			if (removals[i].removed == CACHE_REMOVED)
				result->removed_bytes += removals[i].probed.stat.size_bytes;
		}
		if (failed)
			return -1;
	}
	return 0;
}

static int apply_prune(struct jw_error *err, struct prune *prune)
{
	/* Nothing is added, so the limit only decides which files get rows. */
	const struct cache_live_options how = {.limit_bytes =
											   prune->options->system->cache.limit_bytes};
	struct cache_live_counts counts;
	struct cache_live *live = NULL;
	int result;

	if (cache_live_open(err, prune->result->path, &how, &live))
		return -1;
	result = remove_chosen(err, prune, live);
	if (cache_remove_settle(result ? NULL : err, live))
		result = -1;
	cache_live_counts(live, &counts);
	prune->result->longest_hold_ns = counts.longest_hold_ns;
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	return result;
}

int jw_prune(struct jw_error *err, const struct jw_prune_options *options,
			 struct jw_prune_result **ret_result)
{
	struct prune prune = {.options = options, .result = arena_open(sizeof *prune.result)};
	int result = -1;

	if (!find_chosen(err, &prune) &&
		(!options->apply || !prune.chosen_count || !apply_prune(err, &prune))) {
		*ret_result = prune.result;
		prune.result = NULL;
		result = 0;
	}
	jw_result_free(prune.list);
	former_free(&prune.drivers);
	mem_free(prune.chosen);
	jw_result_free(prune.result);
	return result;
}
