/* The first pass over a pack of entries: checks each entry's manifest data, and the content against
 * the manifest. */
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/entry.h"
#include "cache/index.h"
#include "cache/insert.h"
#include "cache/sound.h"
#include "cache/view.h"
#include "pack/import.h"
#include "pack/judge.h"

/* The most entries whose keys are hashed in parallel. All have one payload, so that the lanes have
 * equal lengths. */
enum { MAX_TOGETHER = 16 };

/* JW_ERR_UNSUPPORTED if the names of the driver's entries are unknown. */
static int import_needs_stamp(struct jw_error *err, const struct jw_system *system)
{
	if (system->driver.stamp[0])
		return 0;
	if (system->driver.library[0])
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "%s: the names of this driver's entries are not known: “jitwarm status” "
						 "asks the driver on a machine with a GPU",
						 system->driver.library);
	return error_set(err, JW_ERR_UNSUPPORTED,
					 "no NVIDIA driver is installed here: to fill a directory for another "
					 "machine, name it with --cache DIR");
}

/* The entries of each kind are one group of the result. */

enum { MAX_GROUPS = 256 };

static bool is_same_kind(const void *element, const void *like)
{
	const struct jw_import_group *a = element, *b = like;

	return a->verdict == b->verdict && a->carried == b->carried && !strcmp(a->target, b->target) &&
		   !strcmp(a->driver, b->driver) && !strcmp(a->why, b->why);
}

/* Counts an entry of the manifest in its group, by its verdict and `why`. */
static void put_into_group(struct import *import, uint32_t at, const char *why)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct jw_import_result *result = import->result;
	const struct import_fate *fate = &import->fates[at];
	struct jw_import_group like = {.verdict = fate->verdict, .carried = fate->carried};
	struct mem_list groups =
		VEC_LIST(result->groups, result->group_count, import->group_capacity, MAX_GROUPS);
	size_t group;

	(void)jw_target_sm(like.target, entry->target);
	(void)pack_driver_text(like.driver, &import->manifest.drivers[entry->driver]);
	TEXT_COPY(like.why, why);
	group = mem_find_or_add(&groups, &like, is_same_kind);
	/* A hostile pack may have any number of kinds: beyond MAX_GROUPS, each verdict has one
	 * group. */
	if (group == groups.most) {
		groups.most += JW_IMPORT_REFUSED + 1;
		like = (struct jw_import_group){.verdict = fate->verdict};
		group = mem_find_or_add(&groups, &like, is_same_kind);
	}
	result->groups[group].entries++;
}

static void judge_by_manifest(struct import *import)
{
	const struct pack_manifest *manifest = &import->manifest;

	import->fates = mem_array(manifest->entry_count, sizeof *import->fates);
	for (uint32_t i = 0; i < manifest->entry_count; i++) {
		struct judgement judgement;

		judge_entry(manifest, &manifest->entries[i], import->system, &judgement);
		pack_entry_identity(&import->fates[i].identity, manifest, &manifest->entries[i]);
		import->fates[i].carried = judgement.carried && !judgement.refused;
		if (judgement.refused) {
			import->fates[i].verdict = JW_IMPORT_REFUSED;
			put_into_group(import, i, judgement.why);
		}
	}
}

static int contradiction(struct jw_error *err, const struct import *import, uint32_t at,
						 const char *what)
{
	return error_set(err, JW_ERR_FORMAT, "%s: entry %016llx: %s", source_name(import->source),
					 (unsigned long long)import->manifest.entries[at].key, what);
}

/* Returns the stamp of the entry's key in this cache. */
static const char *stamp_here(const struct import *import, uint32_t at)
{
	return import->fates[at].carried
			   ? import->system->driver.stamp
			   : import->manifest.drivers[import->manifest.entries[at].driver].stamp;
}

/* Returns the lane that hashes an entry's key under a stamp, up to the options; sets its length. */
static struct fnv_lane name_lane(struct import *import, const struct member_walk *walk, uint32_t at,
								 const char *stamp)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	const size_t size = (size_t)import->manifest.members[entry->ptx].size_bytes;
	char start[CACHE_KEY_MAX_START + 1];
	const size_t length = cache_key_write_start(start, stamp, entry->target);

	import->fates[at].key_bytes = length + size;
	return (struct fnv_lane){fnv_update(FNV_START, start, length), walk->bytes[entry->ptx], size};
}

/* Computes each entry's name under its original driver, which must equal the manifest's, its name
 * in this cache, and its cubin's checksum. */
static int check_hashes(struct jw_error *err, struct import *import, const struct member_walk *walk,
						const uint32_t *entries, size_t count)
{
	struct fnv_lane lanes[3 * MAX_TOGETHER];
	/* The lanes of each entry: its name under its original driver, its name here if that differs,
	 * and its cubin, which neighbours may share. */
	size_t own[MAX_TOGETHER], here[MAX_TOGETHER], cubin[MAX_TOGETHER], filled = 0;

	for (size_t i = 0; i < count; i++) {
		const struct pack_entry *entry = &import->manifest.entries[entries[i]];
		struct import_fate *fate = &import->fates[entries[i]];
		const struct pack_member *members = import->manifest.members;

		own[i] = here[i] = filled;
		lanes[filled++] =
			name_lane(import, walk, entries[i], import->manifest.drivers[entry->driver].stamp);
		if (fate->carried) {
			here[i] = filled;
			lanes[filled++] = name_lane(import, walk, entries[i], stamp_here(import, entries[i]));
		}
		cubin[i] = filled;
		if (i && entry->cubin == import->manifest.entries[entries[i - 1]].cubin)
			cubin[i] = cubin[i - 1];
		else
			lanes[filled++] = (struct fnv_lane){FNV_START, walk->bytes[entry->cubin],
												(size_t)members[entry->cubin].size_bytes};
	}
	fnv_update_many(lanes, filled);
	for (size_t i = 0; i < count; i++) {
		const struct pack_entry *entry = &import->manifest.entries[entries[i]];
		struct import_fate *fate = &import->fates[entries[i]];
		char tail[CACHE_KEY_MAX_TAIL];
		const size_t length = pack_key_tail(tail, entry);

		if (fnv_update(lanes[own[i]].state, tail, length) != entry->key)
			return contradiction(err, import, entries[i],
								 "its name does not match its module, options and driver");
		fate->key = fnv_update(lanes[here[i]].state, tail, length);
		fate->key_bytes += length;
		fate->checksum = lanes[cubin[i]].state;
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
				   (size_t)import->manifest.members[entry->cubin].size_bytes, &cubin))
		return error_prefix(err, "%s: entry %016llx", source_name(import->source),
							(unsigned long long)entry->key);
	if (cubin.sm != entry->target.sm)
		return contradiction(err, import, at, "its cubin is for another architecture");
	if (cubin.relocatable != pack_entry_is_relocatable(entry))
		return contradiction(err, import, at, "its cubin has another kind");
	if (fate->verdict == JW_IMPORT_REFUSED || judge_cubin(&cubin, import->system, why))
		return 0;
	fate->verdict = JW_IMPORT_REFUSED;
	put_into_group(import, at, why);
	return 0;
}

static int check_members(struct jw_error *err, void *context, const struct member_walk *walk,
						 const uint32_t *entries, size_t count)
{
	struct import *import = context;

	for (size_t i = 0; i < count; i += MAX_TOGETHER)
		if (check_hashes(err, import, walk, entries + i,
						 count - i < MAX_TOGETHER ? count - i : MAX_TOGETHER))
			return -1;
	for (size_t i = 0; i < count; i++)
		if (check_cubin(err, import, walk, entries[i]))
			return -1;
	return 0;
}

int import_check_entries(struct jw_error *err, struct import *import, struct reader *reader)
{
	import->walk = (struct member_walk){
		.manifest = &import->manifest,
		.verify = true,
		.keep = manifest_content(&import->manifest) <= import->most_kept_bytes,
		.context = import,
		.cancel = import->options->cancel,
		.complete = check_members,
	};
	/* A directory given by name may belong to another machine. */
	if (import->system && import_needs_stamp(err, import->system)) {
		if (!import->options->cache_dir)
			return -1;
		import->system = NULL;
	}
	import->result->as_is = !import->system;
	judge_by_manifest(import);
	return member_walk_pack(err, &import->walk, reader, source_name(import->source));
}

/* ---- between the passes: decides about each entry by comparing it with the cache */

/* Compares with the file of that name in the cache: the key and the header; the insertion compares
 * every byte. The sound entry of another module is not replaced. */
static void compare_with_cache(const struct import *import, uint32_t at)
{
	const struct pack_entry *entry = &import->manifest.entries[at];
	struct import_fate *fate = &import->fates[at];
	const char *dir = import->result->path;
	const struct sound_driver any = {0};
	struct cache_probed probed;

	switch (cache_presence(dir, fate->key, &fate->identity, &probed)) {
	case CACHE_ABSENT: break;
	case CACHE_PRESENT:
		if (probed.value_bytes == import->manifest.members[entry->cubin].size_bytes &&
			probed.checksum == fate->checksum)
			fate->verdict = JW_IMPORT_THERE;
		break;
	case CACHE_UNUSABLE:
		if (probed.damage == CACHE_DAMAGE_OTHER && cache_sound(dir, any, fate->key) == CACHE_SOUND)
			fate->taken = true;
		break;
	}
}

/* Chooses the entries to insert, each name once: those that are carried over, or the others. */
static void claim_names(struct import *import, bool carried)
{
	const struct jw_import_options *options = import->options;

	for (uint32_t i = 0; i < import->manifest.entry_count; i++) {
		struct import_fate *fate = &import->fates[i];
		size_t cursor = 0, at;

		if (fate->verdict == JW_IMPORT_REFUSED || fate->carried != carried)
			continue;
		at = set_find(&import->keys, fate->key, &cursor);
		if (options->wanted && !options->wanted(options->context, fate->key, &fate->identity)) {
			fate->verdict = JW_IMPORT_REFUSED;
			put_into_group(import, i, "not asked for");
		} else if (at != SET_NONE &&
				   cache_identity_equal(&import->fates[at].identity, &fate->identity)) {
			fate->verdict = JW_IMPORT_THERE;
		} else if (at != SET_NONE) {
			fate->verdict = JW_IMPORT_REFUSED;
			put_into_group(import, i, IMPORT_TAKEN);
		} else {
			fate->insert = true;
			set_add(&import->keys, fate->key, i);
		}
	}
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

/* Accepts a missing entry for refilling a cache: existing entries stay, and entries without room
 * are left out. */
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

	compare_with_cache(import, at);
	if (fate->taken) {
		fate->verdict = JW_IMPORT_REFUSED;
		fate->insert = false;
	}
	if (fate->insert && (!import->options->only_missing || take_missing(import, fate, row_bytes))) {
		import->wanted++;
		import->result->accepted_bytes += row_bytes;
	}
	if (fate->verdict == JW_IMPORT_NEW)
		import->new_bytes += (row_bytes + CACHE_ENTRY_HEADER + block - 1) / block * block;
}

/* ---- the entries of others that an import would evict: the oldest, as at a driver's own insert */

/* The entries in the cache that the import does not write. */
struct others {
	const struct import *import;
	struct cache_files files;
	bool *counted;         /* for each file: neither written by the import nor evicted */
	uint64_t excess_bytes; /* the bytes that still have to be evicted */
};

static void choose_evicted(struct others *others, const struct cache_file *file)
{
	const uint64_t bytes = cache_file_counts(file);
	bool *counted = &others->counted[file - others->files.files];

	if (!others->excess_bytes || !*counted)
		return;
	*counted = false;
	others->excess_bytes -= bytes < others->excess_bytes ? bytes : others->excess_bytes;
	others->import->result->evicted++;
	others->import->result->evicted_bytes += bytes;
}

/* Orders files by age. Before anything is inserted, files without a row get one after the others,
 * the oldest first. */
static int compare_file_ages(const void *a, const void *b)
{
	const struct cache_file *const *x = a, *const *y = b;

	return ((*x)->probed.stat.mtime_ns > (*y)->probed.stat.mtime_ns) -
		   ((*x)->probed.stat.mtime_ns < (*y)->probed.stat.mtime_ns);
}

static int evict_oldest(struct jw_error *err, struct others *others)
{
	const struct cache_file **rest = mem_array(others->files.count, sizeof(void *));
	struct cache_index index = {0};
	size_t count = 0;

	if (cache_index_load(err, others->import->result->path, &index)) {
		mem_free(rest);
		return -1;
	}
	for (size_t i = 0; i < index.count && others->excess_bytes; i++) {
		const struct cache_file *file = cache_files_find(&others->files, index.rows[i].key);

		if (file)
			choose_evicted(others, file);
	}
	for (size_t i = 0; i < others->files.count; i++)
		if (others->counted[i])
			rest[count++] = &others->files.files[i];
	if (count && others->excess_bytes)
		qsort(rest, count, sizeof(void *), compare_file_ages);
	for (size_t i = 0; i < count; i++)
		choose_evicted(others, rest[i]);
	cache_index_free(&index);
	mem_free(rest);
	return 0;
}

/* Sets the result's `evicted` and `evicted_bytes`, before anything is written. */
static int count_evicted(struct jw_error *err, struct import *import)
{
	const uint64_t limit = import->limit_bytes;
	struct others others = {.import = import};
	uint64_t whole = import->result->accepted_bytes;
	int result = 0;

	if (import->options->only_missing || !import->wanted)
		return 0;
	/* If the directory is damaged, the insertion reports that. */
	if (cache_files_scan(NULL, import->result->path, /* headers= */ false, NULL, &others.files))
		return 0;
	others.counted = mem_array(others.files.count, sizeof *others.counted);
	for (size_t i = 0; i < others.files.count; i++) {
		const struct cache_file *file = &others.files.files[i];
		size_t cursor = 0, at = set_find(&import->keys, file->key, &cursor);

		if (at != SET_NONE && import->fates[at].insert)
			continue;
		others.counted[i] = cache_file_counts(file) > 0;
		whole += cache_file_counts(file);
	}
	if (whole > limit) {
		import->evicts_nothing_bytes = whole;
		others.excess_bytes = whole - limit;
		result = evict_oldest(err, &others);
	}
	mem_free(others.counted);
	cache_files_free(&others.files);
	return result;
}

int import_decide_entries(struct jw_error *err, struct import *import)
{
	struct jw_import_result *result = import->result;

	/* An entry under its original stamp has priority over one that is carried over to the same
	 * name. */
	claim_names(import, /* carried= */ false);
	claim_names(import, /* carried= */ true);
	if (import_free_room(err, result->path, import->limit_bytes, &import->room_bytes))
		return -1;
	for (uint32_t i = 0; i < import->manifest.entry_count; i++) {
		const struct import_fate *fate = &import->fates[i];
		const bool refused_before = fate->verdict == JW_IMPORT_REFUSED;

		if (fate->insert)
			decide_accepted(import, i);
		result->entries++;
		result->refused += fate->verdict == JW_IMPORT_REFUSED;
		result->there += fate->verdict == JW_IMPORT_THERE;
		result->accepted += fate->verdict == JW_IMPORT_NEW;
		/* An entry that was refused before is in its group already. */
		if (!refused_before)
			put_into_group(import, i,
						   fate->verdict != JW_IMPORT_REFUSED ? ""
						   : fate->taken                      ? IMPORT_TAKEN
															  : IMPORT_NO_ROOM);
	}
	return count_evicted(err, import);
}

/* ---- the second pass over a pack of entries: inserts the new ones */

/* The most entries that are inserted together. */
enum { WRITTEN_TOGETHER = 64 };

struct writing {
	const struct import *import;
	struct cache_live *live;
	size_t count;
	struct cache_addition additions[WRITTEN_TOGETHER];
	struct cache_part parts[WRITTEN_TOGETHER][4];
	char starts[WRITTEN_TOGETHER][CACHE_ENTRY_HEADER + CACHE_KEY_MAX_START + 1];
	char tails[WRITTEN_TOGETHER][CACHE_KEY_MAX_TAIL];
};

static void add_entry(struct writing *writing, const struct member_walk *walk, uint32_t at)
{
	const struct import *import = writing->import;
	const struct pack_entry *entry = &import->manifest.entries[at];
	const struct import_fate *fate = &import->fates[at];
	const struct pack_member *ptx = &import->manifest.members[entry->ptx];
	const struct pack_member *cubin = &import->manifest.members[entry->cubin];
	struct cache_part *parts = writing->parts[writing->count];
	char *start = writing->starts[writing->count], *tail = writing->tails[writing->count];
	uint8_t header[CACHE_ENTRY_HEADER];

	cache_entry_header(header, fate->key_bytes, cubin->size_bytes, fate->checksum);
	memcpy(start, header, sizeof header);
	parts[0] = (struct cache_part){
		start, sizeof header + cache_key_write_start(start + sizeof header, stamp_here(import, at),
													 entry->target)};
	parts[1] = (struct cache_part){walk->bytes[entry->ptx], (size_t)ptx->size_bytes};
	parts[2] = (struct cache_part){tail, pack_key_tail(tail, entry)};
	parts[3] = (struct cache_part){walk->bytes[entry->cubin], (size_t)cubin->size_bytes};
	writing->additions[writing->count++] = (struct cache_addition){.parts = parts,
																   .part_count = 4,
																   .key = fate->key,
																   .key_bytes = fate->key_bytes,
																   .identity = &fate->identity,
																   .sm = entry->target.sm,
																   .verified = true};
}

static int insert_imported_batch(struct jw_error *err, struct writing *writing)
{
	size_t count = writing->count;

	writing->count = 0;
	if (cache_insert(err, writing->live, writing->additions, count))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (writing->additions[i].added >= CACHE_ADDED_REFUSED)
			return error_set(err, JW_ERR_FORMAT, "%s", writing->additions[i].why.message);
	return 0;
}

static int write_entries(struct jw_error *err, void *context, const struct member_walk *walk,
						 const uint32_t *entries, size_t count)
{
	struct writing *writing = context;
	const struct import *import = writing->import;

	for (size_t i = 0; i < count; i++) {
		if (import->fates[entries[i]].insert)
			add_entry(writing, walk, entries[i]);
		if (writing->count == WRITTEN_TOGETHER &&
			(insert_imported_batch(err, writing) || cancel_check(err, &import->options->cancel)))
			return -1;
	}
	/* The walk's bytes do not outlive this call. */
	return insert_imported_batch(err, writing);
}

/* Inserts all new entries. The source compares every block with the first reading, so the manifest
 * is the same. */
static int insert_all(struct jw_error *err, struct import *import, struct writing *writing)
{
	struct pack_manifest again = {0};
	struct reader *reader = NULL;
	int result;

	import->walk.verify = false;
	import->walk.context = writing;
	import->walk.complete = write_entries;
	if (import->walk.keep)
		return member_walk_again(err, &import->walk);
	result = reader_open(err, import->source, &again, &reader);
	if (!result)
		result = member_walk_pack(err, &import->walk, reader, source_name(import->source));
	reader_close(reader);
	manifest_free(&again);
	return result;
}

int import_insert_entries(struct jw_error *err, struct import *import)
{
	const struct cache_live_options how = {.limit_bytes = import->limit_bytes,
										   .when_full = CACHE_FULL_REFUSE,
										   .new_mode = import->new_mode};
	struct writing *writing = mem_alloc(sizeof *writing);
	struct cache_live_counts counts;
	struct jw_error late = {0};
	int result;

	result = cache_live_open(err, import->result->path, &how, &writing->live);
	if (result)
		goto done;
	writing->import = import;
	result = insert_all(err, import, writing);
	cache_live_counts(writing->live, &counts);
	import->result->added = counts.added;
	import->result->replaced = counts.replaced;
	import->result->added_bytes = counts.grown_bytes > 0 ? (uint64_t)counts.grown_bytes : 0;
	if (cache_live_close(&late, writing->live) && !result)
		result = error_copy(err, &late);
done:
	mem_free(writing);
	return result;
}
