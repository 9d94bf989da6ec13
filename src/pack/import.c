/* jw_import: first everything is read and checked, then what is new is added. */
#include "pack/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/presence.h"
#include "cache/settings.h"
#include "history/ledger.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/identity.h"
#include "pack/opaque.h"
#include "pack/trust.h"

/* What must be left on the disk beside the new entries: index, folders, rounding to blocks. */
enum { SPARE_BYTES = 1 << 20 };
/* Content up to here is decompressed once and kept from the checks to the insertion. The
 * decompressor needs no window then: it stays below 300 MB. */
enum { KEPT_BYTES = 256 << 20 };

/* ---- the directory */

static int find_directory(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct jw_system *system = options->system;
	struct cache_settings settings;
	int result = -1;

	if (cache_settings_read(err, options->cache_dir, NULL, &settings))
		return -1;
	if (!options->cache_dir && system && system->cache.path) {
		mem_free(settings.path);
		settings.path = mem_string(err, system->cache.path);
		if (!settings.path)
			goto done;
	}
	if (!settings.path) {
		error_set(err, JW_ERR_UNSUPPORTED, "%s",
				  settings.warning_count ? settings.warnings[0] : "the driver caches nothing");
		goto done;
	}
	import->result->path = settings.path;
	settings.path = NULL;
	import->limit_bytes = options->limit_bytes ? options->limit_bytes
						  : system             ? system->cache.limit_bytes
											   : settings.limit_bytes;
	result = 0;
done:
	cache_settings_free(&settings);
	return result;
}

static int check_space(struct jw_error *err, const struct import *import)
{
	char *path = os_nearest(err, import->result->path), text[2][TEXT_SHORT];
	uint64_t wanted = import->new_bytes + SPARE_BYTES;
	struct os_space space;
	int result = 0;

	if (!path)
		return -1;
	if (import->new_bytes && !os_space(NULL, path, &space) && space.free_bytes < wanted)
		result = error_set(err, JW_ERR_IO, "%s: the new entries take %s, and %s are free%s",
						   import->result->path, text_bytes(text[0], wanted),
						   text_bytes(text[1], space.free_bytes),
						   space.quota ? " (this account's quota)" : "");
	mem_free(path);
	return result;
}

static int check_limit(struct jw_error *err, const struct import *import)
{
	char text[2][TEXT_SHORT];

	if (import->result->accepted_bytes <= import->limit_bytes)
		return 0;
	return error_set(err, JW_ERR_LIMIT,
					 "its entries take %s, and the driver keeps %s: set CUDA_CACHE_MAXSIZE=%llu, "
					 "here and for the program%s",
					 text_bytes(text[0], import->result->accepted_bytes),
					 text_bytes(text[1], import->limit_bytes),
					 (unsigned long long)(import->result->accepted_bytes * 3 / 2),
					 import->result->accepted_bytes * 3 / 2 > CACHE_MOST_LIMIT
						 ? ", and no driver keeps more than 4 GiB: import a part of it"
						 : "");
}

/* ---- the second time through */

/* Entries that go in together. */
enum { WRITTEN_TOGETHER = 64 };

struct import_writing {
	size_t count;
	struct cache_addition additions[WRITTEN_TOGETHER];
	struct cache_part parts[WRITTEN_TOGETHER][4];
	char starts[WRITTEN_TOGETHER][CACHE_ENTRY_HEADER + PACK_MOST_START];
	char tails[WRITTEN_TOGETHER][PACK_MOST_TAIL];
};

static void add_entry(struct import_writing *writing, const struct import *import,
					  const struct member_walk *walk, uint32_t at)
{
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

static int insert_some(struct jw_error *err, const struct import *import,
					   struct import_writing *writing)
{
	size_t count = writing->count;

	writing->count = 0;
	if (cache_insert(err, import->live, writing->additions, count))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (writing->additions[i].added == CACHE_ADDED_REFUSED)
			return error_set(err, JW_ERR_FORMAT, "%s", writing->additions[i].why.message);
	return 0;
}

static int write_entries(struct jw_error *err, void *context, const struct member_walk *walk,
						 const uint32_t *entries, size_t count)
{
	struct import *import = context;
	struct import_writing *writing = import->writing;

	for (size_t i = 0; i < count; i++) {
		if (import->fates[entries[i]].insert)
			add_entry(writing, import, walk, entries[i]);
		if (writing->count < WRITTEN_TOGETHER)
			continue;
		if (insert_some(err, import, writing))
			return -1;
		if (cancel_check(err, &import->options->cancel))
			return -1;
	}
	return insert_some(err, import, writing);
}

/* A directory that the superuser has filled by name is there for others: one in an image, which
 * programs use under another account. */
uint32_t import_new_mode(const struct jw_import_options *options)
{
	struct os_account account;
	bool superuser = !os_account(NULL, &account) && account.superuser;

	if (superuser)
		os_account_free(&account);
	return superuser && options->cache_dir && !options->account ? 0755 : 0;
}

/* What is not the driver's own is marked before it goes in: so that it is never there unmarked,
 * wherever this is killed. */
static int mark_others(struct jw_error *err, const struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct pack_manifest *manifest = &import->manifest;
	const char *home = options->system ? ledger_home(options->system) : options->state_dir;
	struct ledger_new_mark *marks = mem_array(err, 2 * manifest->entry_count, sizeof *marks);
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
			marks[change.mark_count++] = (struct ledger_new_mark){
				LEDGER_OLDER, fate->key, fate->checksum, manifest->drivers[entry->driver].stamp};
		if (entry->split)
			marks[change.mark_count++] =
				(struct ledger_new_mark){LEDGER_SPLIT, fate->key, fate->checksum, NULL};
	}
	if (change.mark_count && ledger_change_marks(&why, home, import->result->path, &change))
		TEXT_COPY(import->result->unmarked, why.message);
	mem_free(marks);
	return 0;
}

static int insert_all(struct jw_error *err, struct import *import)
{
	const struct cache_live_options how = {
		.limit_bytes = import->limit_bytes,
		.when_full = import->options->only_missing ? CACHE_FULL_REFUSE : CACHE_FULL_EVICT,
		.new_mode = import_new_mode(import->options),
		.account = import->options->account};
	struct pack_manifest again = {0};
	struct cache_live_counts counts;
	struct reader *reader = NULL;
	struct jw_error late = {0};
	int result = -1, closed;

	import->writing = mem_alloc(err, sizeof *import->writing);
	if (!import->writing || mark_others(err, import) ||
		cache_live_open(err, import->result->path, &how, &import->live))
		return -1;
	import->walk.verify = false;
	import->walk.complete = write_entries;
	/* The source holds every byte against what was read the first time: it is the same manifest. */
	if (import->walk.keep)
		result = member_walk_again(err, &import->walk);
	else if (!reader_open(err, import->source, &again, &reader))
		result = member_walk_pack(err, &import->walk, reader, source_name(import->source));
	reader_close(reader);
	manifest_free(&again);
	cache_live_counts(import->live, &counts);
	import->result->added = counts.added;
	import->result->replaced = counts.replaced;
	import->result->added_bytes = counts.added_bytes;
	import->result->evicted = counts.evicted;
	closed = cache_live_close(&late, import->live);
	if (!result && closed)
		result = error_copy(err, &late);
	return result;
}

/* ---- the whole */

/* The PTX that a thin pack lacks, as far as entries need it that are for this machine. */
static int find_supply(struct jw_error *err, struct import *import)
{
	const struct pack_manifest *manifest = &import->manifest;
	bool *needed = mem_array(err, manifest->member_count, sizeof *needed);
	int result = -1;

	for (size_t i = 0; needed && i < manifest->entry_count; i++)
		if (import->fates[i].verdict != JW_IMPORT_REFUSED)
			needed[manifest->entries[i].ptx] = true;
	if (needed)
		result = supply_open(err, import->options, manifest, needed, &import->supply);
	import->walk.supply = import->supply;
	mem_free(needed);
	return result;
}

static int read_pack(struct jw_error *err, struct import *import)
{
	struct reader *reader = NULL;
	int result;

	import->walk = (struct member_walk){.manifest = &import->manifest,
										.verify = true,
										.context = import,
										.cancel = import->options->cancel,
										.complete = import_check};

	if (source_open(err, import->options->path, &import->source) ||
		trust_check(err, import->options, import->source, import->result, &import->signature) ||
		reader_open(err, import->source, &import->manifest, &reader))
		return -1;
	result = trust_check_comment(err, import->options, import->source, &import->signature,
								 &import->manifest, import->result);
	if (import->manifest.opaque) {
		if (!result)
			result = opaque_verify(err, import, reader);
		if (!result && import->options->account)
			result = os_act_as_account(err, import->options->account);
		reader_close(reader);
		return result;
	}
	if (!result)
		result = import_begin(err, import);
	if (!result && import->manifest.thin)
		result = find_supply(err, import);
	/* From here on the directory is looked at. */
	if (!result && import->options->account)
		result = os_act_as_account(err, import->options->account);
	import->walk.keep = manifest_content(&import->manifest) <= KEPT_BYTES;
	if (!result)
		result = member_walk_pack(err, &import->walk, reader, source_name(import->source));
	reader_close(reader);
	return result;
}

static int insert_tree(struct jw_error *err, struct import *import)
{
	int result;

	if (import->options->account && os_act_as_account(err, import->options->account))
		return -1;
	result = opaque_insert(err, import);
	if (import->options->account)
		os_act_as_self();
	return result;
}

/* An opaque pack's directory is made beside the one whose place it takes. */
static int try_tree(struct jw_error *err, const struct import *import)
{
	char *above = os_dir_name(err, import->result->path);
	int result = -1;

	if (above && (!import->options->account || !os_act_as_account(err, import->options->account))) {
		result = os_may_make(err, above);
		if (import->options->account)
			os_act_as_self();
	}
	mem_free(above);
	return result;
}

/* A dry run promises nothing that would fail. */
static int try_all(struct jw_error *err, const struct import *import)
{
	const struct cache_live_options how = {.account = import->options->account};

	return cache_live_try(err, import->result->path, &how);
}

static int import_run(struct jw_error *err, struct import *import)
{
	struct jw_import_result *result = import->result;
	int failed =
		find_directory(err, import) || read_pack(err, import) ||
		(import->manifest.opaque ? opaque_judge(err, import) : import_conclude(err, import)) ||
		check_limit(err, import) || check_space(err, import);

	if (import->options->account)
		os_act_as_self();
	if (failed)
		return -1;
	result->pack_bytes = source_size(import->source);
	result->content_bytes = manifest_content(&import->manifest);
	if (import->options->pack_only || (import->manifest.opaque && !result->accepted))
		return 0;
	if (import->manifest.opaque)
		return import->options->dry_run ? try_tree(err, import) : insert_tree(err, import);
	if (!import->wanted)
		return 0;
	return import->options->dry_run ? try_all(err, import) : insert_all(err, import);
}

static void import_free(struct import *import)
{
	source_close(import->source);
	supply_close(import->supply);
	member_walk_free(&import->walk);
	manifest_free(&import->manifest);
	mem_free(import->writing);
	mem_free(import->fates);
	set_free(&import->keys);
}

int jw_import(struct jw_error *err, const struct jw_import_options *options,
			  struct jw_import_result **ret_result)
{
	struct import import = {.options = options};
	uint64_t started_ns = os_monotonic_ns();
	int result = -1;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	import.result = mem_alloc(err, sizeof *import.result);
	if (import.result && !import_run(err, &import)) {
		import.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
		*ret_result = import.result;
		import.result = NULL;
		result = 0;
	}
	import_free(&import);
	jw_import_result_free(import.result);
	return result;
}

void jw_import_result_free(struct jw_import_result *result)
{
	if (!result)
		return;
	supply_free_report(result);
	mem_free(result->path);
	mem_free(result->groups);
	mem_free(result);
}
