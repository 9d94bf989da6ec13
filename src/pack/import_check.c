/* What becomes of each entry of a pack. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/presence.h"
#include "pack/driver_text.h"
#include "pack/import.h"

/* Entries whose keys are hashed side by side; of one payload, so that all lanes are as long. */
enum { MOST_TOGETHER = 16, MOST_GROUPS = 256 };

/* ---- groups */

/* Hostile packs may have any number of kinds: past MOST_GROUPS all of a verdict are one. */
static int find_group(struct jw_error *err, struct import *import,
					  const struct jw_import_group *like, uint32_t *ret_at)
{
	struct jw_import_result *result = import->result;
	struct jw_import_group rest = {.verdict = like->verdict};
	size_t at = 0;

	while (at < result->group_count) {
		const struct jw_import_group *group = &result->groups[at];

		if (group->verdict == like->verdict && group->carried == like->carried &&
			group->split == like->split && !strcmp(group->target, like->target) &&
			!strcmp(group->driver, like->driver) && !strcmp(group->why, like->why))
			break;
		at++;
	}
	if (at == result->group_count && at >= MOST_GROUPS && like->target[0])
		return find_group(err, import, &rest, ret_at);
	if (at == result->group_count) {
		if (VEC_ROOM(err, result->groups, import->group_capacity, at, MOST_GROUPS + 4))
			return -1;
		result->groups[result->group_count++] = *like;
	}
	*ret_at = (uint32_t)at;
	return 0;
}

static int put_into_group(struct jw_error *err, struct import *import, uint32_t at, const char *why)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct import_fate *fate = &import->fates[at];
	struct jw_import_group group = {
		.verdict = fate->verdict, .carried = fate->carried, .split = entry->split};

	(void)jw_target_sm(group.target, entry->target);
	(void)pack_driver_text(group.driver, &import->manifest.drivers[entry->driver]);
	text_copy(group.why, sizeof group.why, why);
	if (find_group(err, import, &group, &fate->group))
		return -1;
	import->result->groups[fate->group].entries++;
	return 0;
}

/* ---- by the manifest */

int import_begin(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct pack_manifest *manifest = &import->manifest;

	import->fates = mem_array(err, manifest->entry_count, sizeof *import->fates);
	if (!import->fates)
		return -1;
	for (uint32_t i = 0; i < manifest->entry_count; i++) {
		struct judgement judgement;

		judge_entry(manifest, &manifest->entries[i], options->system, options->carry_over,
					&judgement);
		import->fates[i].carried = judgement.carried && !judgement.refused;
		import->fates[i].older = judgement.older;
		if (!judgement.refused)
			continue;
		import->fates[i].verdict = JW_IMPORT_REFUSED;
		if (put_into_group(err, import, i, judgement.why))
			return -1;
	}
	return 0;
}

/* ---- by the content */

size_t import_key_start(char start[PACK_MOST_START], const struct import *import, uint32_t at)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	const char *stamp = import->fates[at].carried ? import->options->system->driver.stamp
												  : import->manifest.drivers[entry->driver].stamp;

	return pack_key_start(start, stamp, entry->target);
}

static int contradiction(struct jw_error *err, const struct import *import, uint32_t at,
						 const char *what)
{
	return error_set(err, JW_ERR_FORMAT, "%s: entry %016llx: %s", source_name(import->source),
					 (unsigned long long)import->manifest.entries[at].key, what);
}

static uint64_t start_of(const struct import *import, uint32_t at, bool own, size_t *ret_length)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	char start[PACK_MOST_START];

	*ret_length =
		own ? pack_key_start(start, import->manifest.drivers[entry->driver].stamp, entry->target)
			: import_key_start(start, import, at);
	return fnv_update(FNV_START, start, *ret_length);
}

/* The names that entries have under their own drivers, which must be those of the manifest, those
 * that they get, and their cubins' checksums. */
static int check_hashes(struct jw_error *err, struct import *import, const struct member_walk *walk,
						const uint32_t *entries, size_t count)
{
	struct fnv_lane lanes[3 * MOST_TOGETHER];
	size_t filled = 0, cubins;

	for (size_t i = 0; i < 2 * count; i++) {
		const struct pack_entry *entry = &import->manifest.entries[entries[i / 2]];
		size_t size = (size_t)import->manifest.members[entry->ptx].size_bytes, length;
		uint64_t state = start_of(import, entries[i / 2], i % 2 == 0, &length);

		if (i % 2 == 0 || import->fates[entries[i / 2]].carried)
			lanes[filled++] = (struct fnv_lane){state, walk->bytes[entry->ptx], size};
		import->fates[entries[i / 2]].key_bytes = length + size;
	}
	cubins = filled;
	for (size_t i = 0; i < count; i++) {
		uint32_t cubin = import->manifest.entries[entries[i]].cubin;

		if (!i || cubin != import->manifest.entries[entries[i - 1]].cubin)
			lanes[filled++] = (struct fnv_lane){FNV_START, walk->bytes[cubin],
												(size_t)import->manifest.members[cubin].size_bytes};
	}
	fnv_update_many(lanes, filled);
	filled = 0;
	for (size_t i = 0; i < count; i++) {
		const struct pack_entry *entry = &import->manifest.entries[entries[i]];
		struct import_fate *fate = &import->fates[entries[i]];
		char tail[PACK_MOST_TAIL];
		size_t length = pack_key_tail(tail, entry);
		uint64_t own = fnv_update(lanes[filled++].state, tail, length);

		if (own != entry->key)
			return contradiction(err, import, entries[i],
								 "its name is not that of its module, options and driver");
		fate->key = fate->carried ? fnv_update(lanes[filled++].state, tail, length) : own;
		fate->key_bytes += length;
		if (i && entry->cubin != import->manifest.entries[entries[i - 1]].cubin)
			cubins++;
		fate->checksum = lanes[cubins].state;
	}
	return 0;
}

static int check_cubin(struct jw_error *err, struct import *import, const struct member_walk *walk,
					   uint32_t at)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct import_fate *fate = &import->fates[at];
	struct cubin_header cubin;
	char why[512];

	if (cubin_read(err, walk->bytes[entry->cubin],
				   (size_t)import->manifest.members[entry->cubin].size_bytes, &cubin)) {
		error_prefix(err, "%s: entry %016llx", source_name(import->source),
					 (unsigned long long)entry->key);
		return -1;
	}
	if (cubin.sm != entry->target.sm)
		return contradiction(err, import, at, "its cubin is for another architecture");
	if (cubin.relocatable != pack_entry_is_relocatable(entry))
		return contradiction(err, import, at, "its cubin is of another kind");
	if (fate->verdict == JW_IMPORT_REFUSED || judge_cubin(&cubin, import->options->system, why))
		return 0;
	fate->verdict = JW_IMPORT_REFUSED;
	return put_into_group(err, import, at, why);
}

/* Its name cannot be held against a module that is nowhere: it is not written, but may be in the
 * cache already. */
static void do_without_module(struct import *import, const struct member_walk *walk, uint32_t at)
{
	const struct pack_manifest *manifest = &import->manifest;
	const struct pack_entry *entry = &manifest->entries[at];
	struct import_fate *fate = &import->fates[at];
	char start[PACK_MOST_START], tail[PACK_MOST_TAIL];

	if (fate->verdict == JW_IMPORT_REFUSED)
		return;
	fate->verdict = JW_IMPORT_MISSING;
	fate->key = fate->carried ? 0 : entry->key;
	fate->key_bytes = import_key_start(start, import, at) +
					  manifest->members[entry->ptx].size_bytes + pack_key_tail(tail, entry);
	fate->checksum = fnv_update(FNV_START, walk->bytes[entry->cubin],
								(size_t)manifest->members[entry->cubin].size_bytes);
}

int import_check(struct jw_error *err, void *context, const struct member_walk *walk,
				 const uint32_t *entries, size_t count)
{
	struct import *import = context;
	uint32_t whole[MOST_TOGETHER];
	size_t filled = 0;

	for (size_t i = 0; i < count; i++) {
		if (walk->bytes[import->manifest.entries[entries[i]].ptx])
			whole[filled++] = entries[i];
		else
			do_without_module(import, walk, entries[i]);
		if (filled < MOST_TOGETHER && i + 1 < count)
			continue;
		if (check_hashes(err, import, walk, whole, filled))
			return -1;
		filled = 0;
	}
	for (size_t i = 0; i < count; i++)
		if (check_cubin(err, import, walk, entries[i]))
			return -1;
	return 0;
}

/* ---- by what is there */

/* By the header and size of the file that is there; when it comes to inserting, every byte is
 * compared. What is not the driver's own takes nobody's place: then *ret_other, and it stays out.
 */
static bool is_there(const struct import *import, uint32_t at, bool *ret_other)
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
	*ret_other = fate->older || (entry->split && !same);
	return same || *ret_other;
}

static bool is_wanted(const struct import *import, uint64_t key)
{
	const struct jw_import_options *options = import->options;

	return !options->wanted || options->wanted(options->context, key);
}

static bool is_left_out(const struct import_fate *fate)
{
	return fate->verdict == JW_IMPORT_REFUSED || fate->verdict == JW_IMPORT_MISSING;
}

/* An entry under its own stamp goes before one that is carried over to the same name. */
static int claim_names(struct jw_error *err, struct import *import)
{
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < import->manifest.entry_count; i++) {
			struct import_fate *fate = &import->fates[i];
			size_t cursor = 0;

			if (is_left_out(fate) || fate->carried != (pass == 1))
				continue;
			if (!is_wanted(import, fate->key)) {
				fate->verdict = JW_IMPORT_REFUSED;
				if (put_into_group(err, import, i, "not asked for"))
					return -1;
				continue;
			}
			if (set_find(&import->keys, fate->key, &cursor) != SET_NONE) {
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

/* For a cache that is filled again: what is there stays as it is, what finds no room stays out. */
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

uint64_t import_free_room(const char *dir, uint64_t limit_bytes)
{
	struct cache_index index;
	uint64_t used = 0;

	if (!cache_index_load(NULL, dir, &index)) {
		used = cache_index_rows_total(&index);
		cache_index_free(&index);
	}
	return used < limit_bytes ? limit_bytes - used : 0;
}

/* Those whose modules are nowhere: one that is in the cache already needs none. */
static int conclude_missing(struct jw_error *err, struct import *import)
{
	size_t count = import->manifest.entry_count;
	bool *lacking = mem_array(err, count, sizeof *lacking);
	int result = lacking ? 0 : -1;

	for (uint32_t i = 0; lacking && i < count; i++) {
		struct import_fate *fate = &import->fates[i];
		bool other;

		if (fate->verdict == JW_IMPORT_MISSING && !fate->carried && is_there(import, i, &other))
			fate->verdict = JW_IMPORT_THERE;
		lacking[i] = fate->verdict == JW_IMPORT_MISSING;
		import->result->missing += lacking[i];
	}
	if (!result && import->supply)
		result = supply_report(err, import->supply, lacking, import->result);
	mem_free(lacking);
	return result;
}

int import_conclude(struct jw_error *err, struct import *import)
{
	const uint64_t block = 4096;

	if (claim_names(err, import) || conclude_missing(err, import))
		return -1;
	import->room_bytes = import_free_room(import->result->path, import->limit_bytes);
	for (uint32_t i = 0; i < import->manifest.entry_count; i++) {
		struct jw_import_result *result = import->result;
		struct import_fate *fate = &import->fates[i];
		uint64_t row_bytes;
		bool other;

		result->entries++;
		if (fate->verdict == JW_IMPORT_REFUSED) {
			result->refused++;
			continue;
		}
		row_bytes = fate->key_bytes +
					import->manifest.members[import->manifest.entries[i].cubin].size_bytes;
		if (fate->insert) {
			import->wanted++;
			result->accepted_bytes += row_bytes;
			if (is_there(import, i, &other)) {
				fate->verdict = JW_IMPORT_THERE;
				fate->insert = !other;
			}
			if (import->options->only_missing && !take_missing(import, fate, row_bytes)) {
				result->accepted_bytes -= row_bytes;
				import->wanted--;
			}
			if (fate->verdict == JW_IMPORT_REFUSED) {
				result->refused++;
				if (put_into_group(err, import, i, IMPORT_NO_ROOM))
					return -1;
				continue;
			}
			if (fate->verdict == JW_IMPORT_NEW)
				import->new_bytes += (row_bytes + CACHE_ENTRY_HEADER + block - 1) / block * block;
		}
		if (fate->verdict == JW_IMPORT_THERE)
			result->there++;
		else if (fate->verdict == JW_IMPORT_NEW)
			result->accepted++;
		if (put_into_group(err, import, i, ""))
			return -1;
	}
	return 0;
}
