/* Between the passes: decides about each entry by comparing it with the cache, and counts the
 * entries of each kind as a group of the result. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/index.h"
#include "cache/presence.h"
#include "pack/driver_text.h"
#include "pack/import.h"

enum { MOST_GROUPS = 256 };

static bool is_same_kind(const void *element, const void *like)
{
	const struct jw_import_group *a = element, *b = like;

	return a->verdict == b->verdict && a->carried == b->carried && !strcmp(a->target, b->target) &&
		   !strcmp(a->driver, b->driver) && !strcmp(a->why, b->why);
}

/* Hostile packs may have any number of kinds: beyond MOST_GROUPS, each verdict has one group. */
static int find_group(struct jw_error *err, struct import *import,
					  const struct jw_import_group *like, uint32_t *ret_at)
{
	struct jw_import_result *result = import->result;
	const struct jw_import_group rest = {.verdict = like->verdict};
	const size_t most = MOST_GROUPS + (like->target[0] ? 0 : JW_IMPORT_REFUSED + 1);
	size_t at;

	if (mem_find_or_add(
			err, &VEC_LIST(result->groups, result->group_count, import->group_capacity, most), like,
			is_same_kind, &at))
		return -1;
	if (at == most)
		return like->target[0]
				   ? find_group(err, import, &rest, ret_at)
				   : error_set(err, JW_ERR_LIMIT, "more than %zu kinds of entries", most);
	*ret_at = (uint32_t)at;
	return 0;
}

int import_put_into_group(struct jw_error *err, struct import *import, uint32_t at, const char *why)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct import_fate *fate = &import->fates[at];
	struct jw_import_group group = {.verdict = fate->verdict, .carried = fate->carried};

	(void)jw_target_sm(group.target, entry->target);
	(void)pack_driver_text(group.driver, &import->manifest.drivers[entry->driver]);
	text_copy(group.why, sizeof group.why, why);
	if (find_group(err, import, &group, &fate->group))
		return -1;
	import->result->groups[fate->group].entries++;
	return 0;
}

/* Compares with the header and size of the file in the cache; the insertion compares every byte. An
 * entry that is not the driver's own replaces no other one: *ret_other, and it is not inserted. */
static bool is_in_cache(const struct import *import, uint32_t at, bool *ret_other)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	const struct import_fate *fate = &import->fates[at];
	struct cache_probed probed;
	bool same;

	*ret_other = false;
	if (cache_presence(import->result->path, fate->key, fate->key_bytes, &probed) != CACHE_PRESENT)
		return false;
	same = probed.value_bytes == import->manifest.members[entry->cubin].size_bytes &&
		   probed.checksum == fate->checksum;
	*ret_other = fate->older;
	return same || *ret_other;
}

static bool is_import_wanted(const struct import *import, uint64_t key)
{
	const struct jw_import_options *options = import->options;

	return !options->wanted || options->wanted(options->context, key);
}

/* An entry under its original stamp wins over one that is carried over to the same name. */
static int claim_names(struct jw_error *err, struct import *import)
{
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < import->manifest.entry_count; i++) {
			struct import_fate *fate = &import->fates[i];

			if (fate->verdict == JW_IMPORT_REFUSED || fate->carried != (pass == 1))
				continue;
			if (!is_import_wanted(import, fate->key)) {
				fate->verdict = JW_IMPORT_REFUSED;
				if (import_put_into_group(err, import, i, "not asked for"))
					return -1;
				continue;
			}
			if (set_has(&import->keys, fate->key)) {
				fate->verdict = JW_IMPORT_THERE;
				continue;
			}
			fate->insert = true;
			if (set_add(err, &import->keys, fate->key, i))
				return -1;
		}
	}
	return 0;
}

int import_free_room(struct jw_error *err, const char *dir, uint64_t limit_bytes,
					 uint64_t *ret_room_bytes)
{
	struct cache_index index;
	uint64_t used;

	if (cache_index_load(err, dir, &index))
		return -1;
	used = cache_index_rows_total(&index);
	cache_index_free(&index);
	*ret_room_bytes = used < limit_bytes ? limit_bytes - used : 0;
	return 0;
}

/* Refilling a cache: existing entries stay, and entries without room are left out. */
static bool take_missing(struct import *import, struct import_fate *fate, uint64_t row_bytes)
{
	if (fate->verdict == JW_IMPORT_THERE || row_bytes > import->room_bytes) {
		fate->insert = false;
		if (fate->verdict == JW_IMPORT_NEW)
			fate->verdict = JW_IMPORT_REFUSED;
		return false;
	}
	import->room_bytes -= row_bytes;
	return true;
}

/* Compares an accepted entry with the file of that name in the cache. */
static void decide_accepted(struct import *import, uint32_t at)
{
	const uint64_t block = 4096;
	struct import_fate *fate = &import->fates[at];
	uint64_t row_bytes =
		fate->key_bytes + import->manifest.members[import->manifest.entries[at].cubin].size_bytes;
	bool other;

	if (is_in_cache(import, at, &other)) {
		fate->verdict = JW_IMPORT_THERE;
		fate->insert = !other;
	}
	if (!import->options->only_missing || take_missing(import, fate, row_bytes)) {
		import->wanted++;
		import->result->accepted_bytes += row_bytes;
	}
	if (fate->verdict == JW_IMPORT_NEW)
		import->new_bytes += (row_bytes + CACHE_ENTRY_HEADER + block - 1) / block * block;
}

static int decide_entry(struct jw_error *err, struct import *import, uint32_t at)
{
	struct jw_import_result *result = import->result;
	struct import_fate *fate = &import->fates[at];
	const char *why = "";

	result->entries++;
	if (fate->verdict == JW_IMPORT_REFUSED) {
		result->refused++;
		return 0; /* counted in its group already */
	}
	if (fate->insert) {
		decide_accepted(import, at);
		why = fate->verdict == JW_IMPORT_REFUSED ? IMPORT_NO_ROOM : "";
	}
	result->refused += fate->verdict == JW_IMPORT_REFUSED;
	result->there += fate->verdict == JW_IMPORT_THERE;
	result->accepted += fate->verdict == JW_IMPORT_NEW;
	return import_put_into_group(err, import, at, why);
}

int import_decide_entries(struct jw_error *err, struct import *import)
{
	if (claim_names(err, import) ||
		import_free_room(err, import->result->path, import->limit_bytes, &import->room_bytes))
		return -1;
	for (uint32_t i = 0; i < import->manifest.entry_count; i++)
		if (decide_entry(err, import, i))
			return -1;
	return import->options->pack_only ? 0 : import_count_evicted(err, import);
}
