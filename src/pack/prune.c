/* jw_prune: moves chosen entries into a pack, if one is wanted, and out of the cache. */
#include <jitwarm/prune.h>

#include <jitwarm/pack.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/set.h"
#include "base/sized.h"
#include "cache/remove.h"
#include "history/ledger.h"
#include "os/file.h"
#include "pack/prune_choice.h"
#include "pack/reader.h"

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
