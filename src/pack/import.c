/* jw_import: the first pass checks the whole pack, the second inserts the new entries. */
#include "pack/import.h"

#include <stdio.h>
#include <stdlib.h>

#include <sodium.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/settings.h"
#include "cache/view.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/identity.h"
#include "pack/trust.h"

/* Free disk space required beside the new entries: index, folders, rounding to blocks. */
enum { SPARE_BYTES = 1 << 20 };
/* The decompressor needs no window for content that is kept: an import stays below 300 MB. */
enum { KEPT_BYTES = 256 << 20 };

static int find_import_directory(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct jw_system *system = import->system;
	struct cache_settings settings;
	int result = -1;

	if (cache_settings_read(err, options->cache_dir, NULL, &settings))
		return -1;
	if (!options->cache_dir && system && system->cache.path) {
		mem_free(settings.path);
		settings.path = mem_string(system->cache.path);
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
	char *path, text[2][TEXT_SHORT];
	uint64_t wanted = import->new_bytes + SPARE_BYTES;
	struct os_space space;
	int result = 0;

	if (import->options->pack_only)
		return 0;
	path = os_nearest(import->result->path);
	if (!path)
		return -1;
	if (import->new_bytes && !os_space(NULL, path, &space) && space.free_bytes < wanted)
		result = error_set(err, JW_ERR_IO, "%s: the new entries take %s, and %s are free",
						   import->result->path, text_bytes(text[0], wanted),
						   text_bytes(text[1], space.free_bytes));
	mem_free(path);
	return result;
}

static const char *import_larger_limit(char text[IMPORT_ADVICE], uint64_t least_bytes,
									   uint64_t roomy_bytes)
{
	if (least_bytes > CACHE_MOST_LIMIT)
		(void)text_format(text, IMPORT_ADVICE,
						  "no driver keeps more than 4 GiB: import a part of it");
	else
		(void)text_format(
			text, IMPORT_ADVICE,
			"raise the limit with “jitwarm tune --apply --max-size %llu” and log in again",
			(unsigned long long)(roomy_bytes < CACHE_MOST_LIMIT ? roomy_bytes : CACHE_MOST_LIMIT));
	return text;
}

static int check_limit(struct jw_error *err, const struct import *import)
{
	const uint64_t accepted = import->result->accepted_bytes;
	char text[2][TEXT_SHORT], advice[IMPORT_ADVICE];

	if (accepted <= import->limit_bytes)
		return 0;
	return error_set(err, JW_ERR_LIMIT, "its entries take %s, and the driver keeps %s: %s",
					 text_bytes(text[0], accepted), text_bytes(text[1], import->limit_bytes),
					 import_larger_limit(advice, accepted, accepted * 3 / 2));
}

/* A directory that the superuser fills by name is for other accounts: for example in an image. */
static uint32_t new_mode(const struct jw_import_options *options)
{
	return os_is_superuser() && options->cache_dir && !options->account ? 0755 : 0;
}

/* The cache that a trusted key decides about; NULL: those of several accounts. */
static const char *kept_for(const struct import *import)
{
	const struct jw_import_options *options = import->options;

	if (import->final_dir)
		return import->final_dir;
	return options->account || options->pack_only ? NULL : import->result->path;
}

static int check(struct jw_error *err, struct import *import)
{
	struct reader *reader = NULL;
	int result;

	if (source_open(err, import->options->path, &import->source) ||
		trust_check(err, import->options, kept_for(import), import->source, import->result) ||
		reader_open(err, import->source, &import->manifest, &reader))
		return -1;
	result = import_check_entries(err, import, reader);
	reader_close(reader);
	return result;
}

/* JW_ERR_LIMIT where there are such entries, and the options do not allow it. */
static int import_refuse_evicting(struct jw_error *err, const struct import *import)
{
	const struct jw_import_result *result = import->result;
	const uint64_t limit = import->limit_bytes, evicted = result->evicted_bytes;
	char text[2][TEXT_SHORT], advice[IMPORT_ADVICE];

	if (!result->evicted || import->options->evict || import->options->dry_run)
		return 0;
	return error_set(
		err, JW_ERR_LIMIT,
		"%s: %s (%s) would be evicted, since the driver keeps %s: %s, or make room with “jitwarm "
		"cache prune”",
		result->path, TEXT_COUNT(result->evicted, "entry of others", "entries of others"),
		text_bytes(text[0], evicted), text_bytes(text[1], limit),
		import_larger_limit(advice, import->evicts_nothing_bytes, limit + evicted * 3 / 2));
}

static int decide(struct jw_error *err, struct import *import)
{
	return import_decide_entries(err, import) || check_limit(err, import) ||
				   import_refuse_evicting(err, import) || check_space(err, import)
			   ? -1
			   : 0;
}

static int decide_as_account(struct jw_error *err, struct import *import)
{
	const struct jw_account *account = import->options->account;
	int result;

	if (account && os_act_as_account(err, account))
		return -1;
	result = decide(err, import);
	if (account)
		os_act_as_self();
	return result;
}

static int run(struct jw_error *err, struct import *import)
{
	if (find_import_directory(err, import) || check(err, import) || decide_as_account(err, import))
		return -1;
	import->result->pack_bytes = source_size(import->source);
	import->result->content_bytes = manifest_content(&import->manifest);
	if (import->options->pack_only || !import->wanted)
		return 0;
	return import->options->dry_run ? import_try_entries(err, import)
									: import_insert_entries(err, import);
}

static void import_free(struct import *import)
{
	source_close(import->source);
	member_walk_free(&import->walk);
	manifest_free(&import->manifest);
	mem_free(import->fates);
	set_free(&import->keys);
}

int import_one(struct jw_error *err, const struct jw_import_options *options, const char *final_dir,
			   struct jw_import_result **ret_result)
{
	struct import import = {.options = options,
							.final_dir = final_dir,
							.system = options->system,
							.most_kept_bytes = KEPT_BYTES,
							.new_mode = new_mode(options)};
	uint64_t started_ns = os_monotonic_ns();
	int result = -1;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	import.result = mem_alloc(sizeof *import.result);
	if (import.result && !run(err, &import)) {
		import.result->dry_run = options->dry_run;
		import.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
		*ret_result = import.result;
		import.result = NULL;
		result = 0;
	}
	import_free(&import);
	jw_import_result_free(import.result);
	return result;
}

int jw_import(struct jw_error *err, const struct jw_import_options *options,
			  struct jw_import_result **ret_result)
{
	return import_one(err, options, NULL, ret_result);
}

int import_check_pack(struct jw_error *err, const struct jw_import_options *given)
{
	struct jw_import_options options = *given;
	struct jw_import_result *result = NULL;
	char *nowhere = mem_printf("%s.none", given->path);
	int failed;

	options.account = NULL;
	options.cache_dir = nowhere;
	options.dry_run = options.pack_only = true;
	failed = import_one(err, &options, NULL, &result);
	jw_import_result_free(result);
	mem_free(nowhere);
	return failed;
}

void jw_import_result_free(struct jw_import_result *result)
{
	if (!result)
		return;
	mem_free(result->path);
	mem_free(result->groups);
	mem_free(result);
}

/* jw_import_all: imports a pack into every person's account. */

/* A damaged folder of one account must not keep the others from their import. */
static int import_for(struct jw_error *err, const struct jw_import_options *given,
					  const struct jw_account *account, struct jw_import_all_result *all)
{
	struct jw_import_account *made = &all->accounts[all->count++];
	struct jw_import_options options = *given;
	char *dir;

	made->name = mem_string(account->name);
	if (os_account_cache_dir(&made->failed, account, &dir)) {
		all->failed++;
		return made->failed.code == JW_ERR_UNSUPPORTED ? 0 : error_copy(err, &made->failed);
	}
	options.account = account;
	options.cache_dir = dir;
	all->failed += import_one(&made->failed, &options, NULL, &made->result) != 0;
	mem_free(dir);
	return made->failed.code == JW_ERR_INTERRUPTED ? error_copy(err, &made->failed) : 0;
}

static int import_for_each(struct jw_error *err, const struct jw_import_options *options,
						   const struct jw_accounts *accounts, struct jw_import_all_result *all)
{
	if (!accounts->count)
		return error_set(err, JW_ERR_NOT_FOUND, "no account of a person has a folder here");
	all->accounts = mem_array(accounts->count, sizeof *all->accounts);
	for (size_t i = 0; i < accounts->count; i++)
		if (import_for(err, options, &accounts->items[i], all))
			return -1;
	return 0;
}

int jw_import_all(struct jw_error *err, const struct jw_import_options *options,
				  struct jw_import_all_result **ret_result)
{
	struct jw_accounts accounts = {0};
	struct jw_import_all_result *all = NULL;
	int result = -1;

	if (!(options->system && import_needs_stamp(err, options->system)) &&
		!import_check_pack(err, options) && !jw_accounts_people(err, &accounts))
		all = mem_alloc(sizeof *all);
	if (all)
		result = import_for_each(err, options, &accounts, all);
	jw_accounts_free(&accounts);
	if (result)
		jw_import_all_result_free(all);
	else
		*ret_result = all;
	return result;
}

void jw_import_all_result_free(struct jw_import_all_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++) {
		mem_free(result->accounts[i].name);
		jw_import_result_free(result->accounts[i].result);
	}
	mem_free(result->accounts);
	mem_free(result);
}

/* Which entries of others an import would evict: the oldest, as at a driver's own insert. */

/* Entries that are there and that the import does not write. */
struct others {
	const struct import *import;
	struct cache_files files;
	bool *counted; /* of the files: in `total_bytes` */
	uint64_t total_bytes;
	uint64_t excess_bytes; /* that still have to go */
};

static bool writes(const struct import *import, uint64_t key)
{
	size_t cursor = 0, at = set_find(&import->keys, key, &cursor);

	return at != SET_NONE && import->fates[at].insert;
}

static void count_others(struct others *others)
{
	for (size_t i = 0; i < others->files.count; i++) {
		const struct cache_file *file = &others->files.files[i];

		others->counted[i] = cache_file_counts(file) && !writes(others->import, file->key);
		if (others->counted[i])
			others->total_bytes += cache_file_counts(file);
	}
}

static void give_up(struct others *others, const struct cache_file *file)
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

/* Files without a row get one behind the others, the oldest first, before anything is inserted. */
static int compare_file_ages(const void *a, const void *b)
{
	const struct cache_file *const *x = a, *const *y = b;

	return ((*x)->probed.mtime_ns > (*y)->probed.mtime_ns) -
		   ((*x)->probed.mtime_ns < (*y)->probed.mtime_ns);
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
			give_up(others, file);
	}
	for (size_t i = 0; i < others->files.count; i++)
		if (others->counted[i])
			rest[count++] = &others->files.files[i];
	if (count && others->excess_bytes)
		qsort(rest, count, sizeof(void *), compare_file_ages);
	for (size_t i = 0; i < count; i++)
		give_up(others, rest[i]);
	cache_index_free(&index);
	mem_free(rest);
	return 0;
}

static int count_evicted_files(struct jw_error *err, struct import *import, struct others *others)
{
	others->counted = mem_array(others->files.count, sizeof *others->counted);
	count_others(others);
	if (others->total_bytes + import->result->accepted_bytes <= import->limit_bytes)
		return 0;
	import->evicts_nothing_bytes = others->total_bytes + import->result->accepted_bytes;
	others->excess_bytes = import->evicts_nothing_bytes - import->limit_bytes;
	return evict_oldest(err, others);
}

int import_count_evicted(struct jw_error *err, struct import *import)
{
	struct others others = {.import = import};
	struct jw_error why = {0};
	int result;

	if (import->options->only_missing || !import->wanted)
		return 0;
	/* The insertion reports what is wrong with a directory. */
	if (cache_files_sizes(&why, import->result->path, &others.files))
		return 0;
	result = count_evicted_files(err, import, &others);
	mem_free(others.counted);
	cache_files_free(&others.files);
	return result;
}
