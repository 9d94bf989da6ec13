#include "pack/prune_choice.h"

#include <string.h>

#include <jitwarm/cache.h>

#include "base/mem.h"
#include "base/set.h"
#include "base/text.h"
#include "cache/former.h"
#include "cache/mend.h"
#include "history/ledger.h"
#include "os/clock.h"
#include "pack/judge.h"

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

int choose_entries(struct jw_error *err, const struct jw_prune_options *options,
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

void chosen_free(struct chosen *chosen)
{
	mem_free(chosen->items);
	*chosen = (struct chosen){0};
}
