/* jw_prune: moves chosen entries into a pack, if one is wanted, and out of the cache. */
#include <jitwarm/prune.h>

#include <string.h>

#include <jitwarm/cache.h>
#include <jitwarm/pack.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/sized.h"
#include "base/text.h"
#include "cache/former.h"
#include "cache/mend.h"
#include "cache/remove.h"
#include "history/ledger.h"
#include "os/clock.h"
#include "os/file.h"
#include "pack/judge.h"
#include "pack/reader.h"

/* ---- which entries, and why: nothing is written */

struct chosen_one {
	struct cache_removal removal; /* the file as it was when it was chosen */
	bool damaged;
};

struct chosen {
	struct chosen_one *items; /* in the driver's order of eviction */
	size_t count;
};

enum { MOST_GROUPS = 4096, STAYS = JW_PRUNE_REASONS };

struct choose {
	const struct jw_prune_options *options;
	struct jw_prune_result *result;
	struct former_drivers drivers;
	struct jw_cache_listing *list;
	struct jw_cache_report *report; /* if damaged entries are to be removed */
	struct set damaged;             /* by the report */
	uint8_t *reasons;               /* for each entry of the list; STAYS */
	struct cache_removal *judged;   /* for each damaged one that is removed */
	size_t group_capacity, unknown_capacity;
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

static bool is_unwanted_target(const struct jw_prune_options *options, struct jw_target target)
{
	for (size_t i = 0; i < options->target_count; i++)
		if (options->targets[i].sm == target.sm)
			return true;
	return options->other_targets && target.sm && !judge_has_gpu(options->system, target);
}

static bool is_old(const struct jw_prune_options *options, const struct jw_cache_entry *entry)
{
	return entry->mtime_ns / 1000000000 < os_now_s() - (int64_t)options->older_s;
}

/* Whether a driver is known to have made it: an entry whose stamp is not named is removed only
 * then. */
static bool is_a_drivers(const struct choose *choose, const struct jw_cache_entry *entry)
{
	return !entry->damaged && entry->kind != JW_CACHE_OTHER && entry->form != JW_CACHE_JITLINK &&
		   former_of(&choose->drivers, entry->driver) != FORMER_UNKNOWN;
}

static bool chooses_by_age_alone(const struct jw_prune_options *options)
{
	return options->older_s && !options->damaged && !options->former_drivers &&
		   !options->driver_count && !options->other_targets && !options->target_count;
}

static int reason_of_sound(const struct choose *choose, const struct jw_cache_entry *entry)
{
	const struct jw_prune_options *options = choose->options;

	if (is_named_driver(options, entry->driver))
		return JW_PRUNE_DRIVER;
	if (!is_a_drivers(choose, entry))
		return STAYS;
	if (options->former_drivers && former_of(&choose->drivers, entry->driver) == FORMER_FORMER)
		return JW_PRUNE_DRIVER;
	if (is_unwanted_target(options, entry->target))
		return JW_PRUNE_TARGET;
	return chooses_by_age_alone(options) ? JW_PRUNE_AGE : STAYS;
}

static int prune_reason_of(struct choose *choose, size_t at)
{
	const struct jw_cache_entry *entry = &choose->list->entries[at];
	int reason = STAYS;

	if (set_has(&choose->damaged, entry->key)) {
		const enum mend_verdict verdict =
			mend_judge(NULL, choose->list->path, sound_driver_of(&choose->options->system->driver),
					   entry->key, &choose->judged[at]);

		if (verdict == MEND_TAKE)
			reason = JW_PRUNE_DAMAGED;
		choose->result->not_judged += verdict == MEND_LEAVE;
	} else if (!entry->damaged && entry->kind != JW_CACHE_OTHER) {
		reason = reason_of_sound(choose, entry);
	}
	if (choose->options->older_s && !is_old(choose->options, entry))
		reason = STAYS;
	return reason;
}

/* Entries come in the driver's order of eviction. */
static void choose_for_size(struct choose *choose)
{
	const struct jw_cache_listing *list = choose->list;
	uint64_t left = 0;

	for (size_t i = 0; i < list->count; i++)
		left += choose->reasons[i] == STAYS ? list->entries[i].file_bytes : 0;
	for (size_t i = 0; i < list->count && left > choose->options->to_size_bytes; i++) {
		if (choose->reasons[i] != STAYS || !is_a_drivers(choose, &list->entries[i]))
			continue;
		choose->reasons[i] = JW_PRUNE_SIZE;
		left -= list->entries[i].file_bytes;
	}
}

static int find_reasons(struct jw_error *err, struct choose *choose)
{
	size_t count = choose->list->count;
	uint64_t key;

	choose->reasons = mem_alloc(err, count);
	choose->judged = mem_array(err, count, sizeof *choose->judged);
	if (!choose->reasons || !choose->judged)
		return -1;
	for (size_t i = 0; choose->report && i < choose->report->damaged; i++)
		if (mend_key(choose->report->damaged_entries[i].name, &key) &&
			set_add(err, &choose->damaged, key, i))
			return -1;
	for (size_t i = 0; i < count; i++)
		choose->reasons[i] = (uint8_t)prune_reason_of(choose, i);
	if (choose->options->to_size_given)
		choose_for_size(choose);
	return 0;
}

static bool is_same_prune(const void *element, const void *like)
{
	const struct jw_prune_group *a = element, *b = like;

	return a->reason == b->reason && a->target.sm == b->target.sm && !strcmp(a->driver, b->driver);
}

/* Groups beyond MOST_GROUPS are not listed. */
static int count_in_group(struct jw_error *err, const struct mem_list *groups,
						  const struct jw_cache_entry *entry, enum jw_prune_reason reason)
{
	struct jw_prune_group like = {.reason = reason, .target = entry->target}, *group;
	size_t at;

	memcpy(like.driver, entry->driver, sizeof like.driver);
	if (mem_find_or_add(err, groups, &like, is_same_prune, &at))
		return -1;
	group = (struct jw_prune_group *)*groups->array + at;
	if (at < MOST_GROUPS) {
		group->entries++;
		group->bytes += entry->file_bytes;
	}
	return 0;
}

/* Chooses the file as it was listed; a file that has changed since is skipped this time. */
static bool take_removal(const struct choose *choose, size_t at, struct chosen_one *one)
{
	const struct jw_cache_entry *entry = &choose->list->entries[at];

	*one = (struct chosen_one){.damaged = choose->reasons[at] == JW_PRUNE_DAMAGED};
	if (one->damaged) {
		one->removal = choose->judged[at];
		return true;
	}
	one->removal.key = entry->key;
	return cache_presence(choose->list->path, entry->key, 0, &one->removal.probed) ==
			   CACHE_PRESENT &&
		   one->removal.probed.size_bytes == entry->file_bytes &&
		   one->removal.probed.mtime_ns == entry->mtime_ns;
}

static int collect_chosen(struct jw_error *err, struct choose *choose, struct chosen *chosen)
{
	struct jw_prune_result *result = choose->result;
	const struct mem_list groups = VEC_LIST(result->groups, result->group_count,
											choose->group_capacity, MOST_GROUPS),
						  unknown = VEC_LIST(result->unknown, result->unknown_count,
											 choose->unknown_capacity, MOST_GROUPS);

	chosen->items = mem_array(err, choose->list->count, sizeof *chosen->items);
	if (!chosen->items)
		return -1;
	for (size_t i = 0; i < choose->list->count; i++) {
		const struct jw_cache_entry *entry = &choose->list->entries[i];
		enum jw_prune_reason reason = (enum jw_prune_reason)choose->reasons[i];

		result->entries++;
		result->bytes += entry->file_bytes;
		if (choose->reasons[i] == STAYS) {
			if (!entry->damaged && !is_a_drivers(choose, entry) &&
				count_in_group(err, &unknown, entry, JW_PRUNE_REASONS))
				return -1;
			continue;
		}
		if (!take_removal(choose, i, &chosen->items[chosen->count]))
			continue;
		chosen->count++;
		result->chosen[reason]++;
		result->chosen_bytes[reason] += entry->file_bytes;
		if (count_in_group(err, &groups, entry, reason))
			return -1;
	}
	return 0;
}

static int check_prune_options(struct jw_error *err, const struct jw_prune_options *options)
{
	const struct jw_system *system = options->system;

	if (options->former_drivers &&
		(!system->driver.stamp[0] || system->driver.trust == JW_TRUST_OPAQUE))
		return error_set(
			err, JW_ERR_UNSUPPORTED,
			"former drivers are unknown, since this machine's driver is; name them with "
			"--driver");
	if (options->other_targets && !system->gpu_count)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "this machine's GPUs are unknown; name those whose entries are to be "
						 "removed with --arch");
	/* CUDA_VISIBLE_DEVICES hides GPUs whose entries are still in use. */
	if (options->other_targets && system->pci_count > system->gpu_count)
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%zu of %s of this machine hidden from here; name the architectures whose "
						 "entries are to be removed with --arch",
						 system->pci_count - system->gpu_count,
						 TEXT_COUNT(system->pci_count, "GPU is", "GPUs are"));
	return 0;
}

static int read_cache_drivers(struct jw_error *err, struct choose *choose)
{
	const struct jw_system *system = choose->options->system;
	struct ledger ledger;
	int result = former_read(err, system->state_dir, system->driver.stamp,
							 system->driver.version.release, &choose->drivers);

	if (result)
		return -1;
	ledger_open(&ledger, system->state_dir, choose->list->path);
	for (size_t i = 0; !result && i < ledger.stamp_count; i++)
		result =
			(ledger.ahead[i] ? former_spare : former_add)(err, &choose->drivers, ledger.stamps[i]);
	ledger_close(&ledger);
	return result;
}

static void chosen_free(struct chosen *chosen)
{
	mem_free(chosen->items);
	*chosen = (struct chosen){0};
}

/* Fills in path, entries, bytes, chosen…, groups and unknown of the result, which the caller owns
 * on failure too. */
static int choose_entries(struct jw_error *err, const struct jw_prune_options *options,
						  struct jw_prune_result *result, struct chosen *ret_chosen)
{
	const struct jw_cache_options look = {.size = sizeof look,
										  .path = options->cache_dir,
										  .limit_bytes = options->system->cache.limit_bytes,
										  .cancel = options->cancel,
										  .driver = &options->system->driver};
	struct choose choose = {.options = options, .result = result};
	struct chosen chosen = {0};
	int done = -1;

	if (check_prune_options(err, options))
		return -1;
	if (jw_cache_list(err, &look, &choose.list) || read_cache_drivers(err, &choose) ||
		(options->damaged && jw_cache_verify(err, &look, &choose.report)))
		goto done;
	result->path = mem_string(err, choose.list->path);
	if (!result->path || find_reasons(err, &choose) || collect_chosen(err, &choose, &chosen))
		goto done;
	*ret_chosen = chosen;
	chosen = (struct chosen){0};
	done = 0;
done:
	chosen_free(&chosen);
	jw_cache_list_free(choose.list);
	jw_cache_report_free(choose.report);
	former_free(&choose.drivers);
	set_free(&choose.damaged);
	mem_free(choose.reasons);
	mem_free(choose.judged);
	return done;
}

/* ---- into the pack, and out of the cache */

enum { AT_A_TIME = 256 }; /* entries between two checks for cancellation */

struct prune {
	const struct jw_prune_options *options;
	struct jw_prune_result *result;
	struct chosen chosen;
	struct set sound;   /* chosen entries that a pack can keep */
	struct set removed; /* keys */
};

static bool goes_into_pack(void *context, uint64_t key)
{
	return set_has(&((const struct prune *)context)->sound, key);
}

/* The names of the pack's entries. */
static int read_names(struct jw_error *err, const char *path, struct set *names)
{
	struct pack_manifest manifest = {0};
	int result = reader_manifest(err, path, &manifest);

	for (size_t i = 0; !result && i < manifest.entry_count; i++)
		result = set_add(err, names, manifest.entries[i].key, i);
	manifest_free(&manifest);
	return result;
}

static bool is_parent_there(const char *path)
{
	char *folder = os_dir_name(NULL, path);
	bool has = folder && os_exists(folder);

	mem_free(folder);
	return has;
}

/* Entries that an earlier prune moved into it may be nowhere else. */
static int check_kept_file(struct jw_error *err, const char *path)
{
	struct jw_error why = {0};
	struct os_stat stat;

	if (os_stat(&why, path, &stat))
		return error_unless_missing(err, &why);
	if (stat.kind != OS_REGULAR || !stat.size_bytes)
		return 0;
	return error_set(err, JW_ERR_USAGE,
					 "%s: is there already, and may hold entries that are nowhere else: name "
					 "another file",
					 path);
}

static int write_pruned_pack(struct jw_error *err, struct prune *prune, struct set *names)
{
	const struct jw_export_options options = {.size = sizeof options,
											  .cache_dir = prune->result->path,
											  .system = prune->options->system,
											  .all_drivers = true,
											  .output = prune->options->keep,
											  .context = prune,
											  .cancel = prune->options->cancel,
											  .wanted = goes_into_pack};
	struct jw_export_result made = {.size = sizeof made};
	struct jw_error why = {0};

	for (size_t i = 0; i < prune->chosen.count; i++)
		if (!prune->chosen.items[i].damaged &&
			set_add(err, &prune->sound, prune->chosen.items[i].removal.key, i))
			return -1;
	if (!prune->sound.count)
		return 0;
	if (check_kept_file(err, prune->options->keep))
		return -1;
	if (!jw_export(&why, &options, &made))
		return read_names(err, options.output, names);
	if (why.code == JW_ERR_NOT_FOUND && is_parent_there(prune->options->keep))
		return 0; /* not an entry that a pack can hold */
	return error_copy(err, &why);
}

/* Damaged entries are removed; entries that the pack does not have stay. */
static int keep_pruned(struct jw_error *err, struct prune *prune)
{
	struct chosen *chosen = &prune->chosen;
	struct set names = {0};
	size_t left = 0;
	int result = write_pruned_pack(err, prune, &names);

	for (size_t i = 0; !result && i < chosen->count; i++) {
		if (chosen->items[i].damaged || set_has(&names, chosen->items[i].removal.key))
			chosen->items[left++] = chosen->items[i];
		else
			prune->result->not_kept++;
	}
	if (!result) {
		chosen->count = left;
		prune->result->kept = names.count;
	}
	set_free(&names);
	return result;
}

static void count_removals(struct prune *prune, const struct cache_removal *removals, size_t size)
{
	struct jw_prune_result *result = prune->result;

	for (size_t i = 0; i < size; i++) {
		result->changed += removals[i].removed == CACHE_REMOVED_CHANGED;
		result->removed += removals[i].removed == CACHE_REMOVED;
		if (removals[i].removed != CACHE_REMOVED)
			continue;
		result->removed_bytes += removals[i].probed.size_bytes;
		/* Without memory `check --explain` knows less. */
		(void)set_add(NULL, &prune->removed, removals[i].key, i);
	}
}

static int remove_all(struct jw_error *err, struct prune *prune, struct cache_live *live)
{
	const struct chosen *chosen = &prune->chosen;
	struct cache_removal removals[AT_A_TIME];

	for (size_t at = 0; at < chosen->count;) {
		size_t size = 0;
		int result;

		if (cancel_check(err, &prune->options->cancel))
			return -1;
		while (size < AT_A_TIME && at < chosen->count)
			removals[size++] = chosen->items[at++].removal;
		result = cache_remove(err, live, removals, size);
		count_removals(prune, removals, size);
		if (result)
			return -1;
	}
	return 0;
}

static int apply_prune(struct jw_error *err, struct prune *prune)
{
	/* Nothing is added: the limit only decides which files get rows. */
	const struct cache_live_options how = {.limit_bytes =
											   prune->options->system->cache.limit_bytes};
	struct cache_live_counts counts;
	struct cache_live *live = NULL;
	int result;

	if (prune->options->keep && keep_pruned(err, prune))
		return -1;
	if (!prune->chosen.count)
		return 0;
	if (cache_live_open(err, prune->result->path, &how, &live))
		return -1;
	result = remove_all(err, prune, live);
	if (cache_remove_settle(result ? NULL : err, live))
		result = -1;
	ledger_note_taken_out(prune->options->system->state_dir, prune->result->path, &prune->removed);
	cache_live_counts(live, &counts);
	prune->result->longest_hold_ns = counts.longest_hold_ns;
	if (cache_live_close(result ? NULL : err, live))
		result = -1;
	return result;
}

int jw_prune(struct jw_error *err, const struct jw_prune_options *options,
			 struct jw_prune_result **ret_result)
{
	options = SIZED(err, options, struct jw_prune_options);
	if (!options)
		return -1;
	struct prune prune = {.options = options, .result = mem_alloc(err, sizeof *prune.result)};
	int result = -1;

	if (prune.result && !choose_entries(err, options, prune.result, &prune.chosen) &&
		(!options->apply || !prune.chosen.count || !apply_prune(err, &prune))) {
		*ret_result = prune.result;
		prune.result = NULL;
		result = 0;
	}
	set_free(&prune.sound);
	set_free(&prune.removed);
	chosen_free(&prune.chosen);
	jw_prune_result_free(prune.result);
	return result;
}

void jw_prune_result_free(struct jw_prune_result *result)
{
	if (!result)
		return;
	mem_free(result->path);
	mem_free(result->groups);
	mem_free(result->unknown);
	mem_free(result);
}
