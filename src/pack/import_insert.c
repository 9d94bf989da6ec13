/* The second pass over a pack of entries: inserts the new ones. */
#include <string.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/insert.h"
#include "history/ledger.h"
#include "pack/import.h"

/* Entries that are inserted together. */
enum { WRITTEN_TOGETHER = 64 };

struct writing {
	const struct import *import;
	struct cache_live *live;
	size_t count;
	struct cache_addition additions[WRITTEN_TOGETHER];
	struct cache_part parts[WRITTEN_TOGETHER][4];
	char starts[WRITTEN_TOGETHER][CACHE_ENTRY_HEADER + PACK_MOST_START];
	char tails[WRITTEN_TOGETHER][PACK_MOST_TAIL];
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
	parts[0] = (struct cache_part){start, sizeof header +
											  import_key_start(start + sizeof header, import, at)};
	parts[1] = (struct cache_part){walk->bytes[entry->ptx], (size_t)ptx->size_bytes};
	parts[2] = (struct cache_part){tail, pack_key_tail(tail, entry)};
	parts[3] = (struct cache_part){walk->bytes[entry->cubin], (size_t)cubin->size_bytes};
	writing->additions[writing->count++] = (struct cache_addition){.parts = parts,
																   .part_count = 4,
																   .key = fate->key,
																   .key_bytes = fate->key_bytes,
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
		if (writing->additions[i].added == CACHE_ADDED_REFUSED)
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
		if (writing->count < WRITTEN_TOGETHER)
			continue;
		if (insert_imported_batch(err, writing))
			return -1;
		if (cancel_check(err, &import->options->cancel))
			return -1;
	}
	return insert_imported_batch(err, writing);
}

/* Marks entries that are not the driver's own before they are inserted, so that a killed import
 * leaves no unmarked one. */
static int mark_others(struct jw_error *err, const struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct pack_manifest *manifest = &import->manifest;
	const char *home = import->system ? ledger_home(import->system) : options->state_dir;
	struct ledger_new_mark *marks = mem_array(err, manifest->entry_count, sizeof *marks);
	struct ledger_change change = {.marks = marks};
	struct jw_error why = {0};

	if (!marks)
		return -1;
	for (uint32_t i = 0; i < manifest->entry_count; i++) {
		const struct pack_entry *entry = &manifest->entries[i];
		const struct import_fate *fate = &import->fates[i];

		if (!fate->insert || fate->verdict != JW_IMPORT_NEW)
			continue;
		if (fate->older)
			marks[change.mark_count++] =
				(struct ledger_new_mark){.key = fate->key,
										 .checksum = fate->checksum,
										 .stamp = manifest->drivers[entry->driver].stamp};
	}
	if (change.mark_count && ledger_change_marks(&why, home, import->result->path, &change))
		TEXT_COPY(import->result->unmarked, why.message);
	mem_free(marks);
	return 0;
}

/* The source compares every block with the first reading, so the manifest is the same. */
static int write_all(struct jw_error *err, struct import *import, struct writing *writing)
{
	struct pack_manifest again = {0};
	struct reader *reader = NULL;
	int result;

	import->walk.verify = false;
	import->walk.context = writing;
	import->walk.complete = write_entries;
	if (import->walk.keep)
		return member_walk_again(err, &import->walk);
	result = reader_open(err, import->source, &again, &reader) ||
					 member_walk_pack(err, &import->walk, reader, source_name(import->source))
				 ? -1
				 : 0;
	reader_close(reader);
	manifest_free(&again);
	return result;
}

int import_insert_entries(struct jw_error *err, struct import *import)
{
	const struct cache_live_options how = {
		.limit_bytes = import->limit_bytes,
		.when_full = import->options->evict && !import->options->only_missing ? CACHE_FULL_EVICT
																			  : CACHE_FULL_REFUSE,
		.new_mode = import->new_mode,
		.stamp = import->options->system ? import->options->system->driver.stamp : NULL,
		.account = import->options->account};
	struct writing *writing = mem_alloc(err, sizeof *writing);
	struct cache_live_counts counts;
	struct jw_error late = {0};
	int result = -1;

	if (!writing || mark_others(err, import) ||
		cache_live_open(err, import->result->path, &how, &writing->live))
		goto done;
	writing->import = import;
	result = write_all(err, import, writing);
	cache_live_counts(writing->live, &counts);
	import->result->added = counts.added;
	import->result->replaced = counts.replaced;
	import->result->added_bytes = counts.grown_bytes > 0 ? (uint64_t)counts.grown_bytes : 0;
	import->result->evicted = counts.evicted;
	import->result->evicted_bytes = counts.evicted_bytes;
	import->result->cooled = counts.cooled;
	if (cache_live_close(&late, writing->live) && !result)
		result = error_copy(err, &late);
done:
	mem_free(writing);
	return result;
}

int import_try_entries(struct jw_error *err, struct import *import)
{
	const struct cache_live_options how = {.account = import->options->account};

	return cache_live_try(err, import->result->path, &how);
}

const struct import_form import_of_entries = {
	.check = import_check_entries,
	.decide = import_decide_entries,
	.try_insert = import_try_entries,
	.insert = import_insert_entries,
};
