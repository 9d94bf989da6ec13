/* jw_import: the first pass checks the whole pack, the second inserts the new entries. */
#include "pack/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "base/smaller.h"
#include "base/text.h"
#include "cache/index.h"
#include "cache/insert.h"
#include "cache/settings.h"
#include "cache/view.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/identity.h"
#include "pack/trust.h"

/* Free disk space required beside the new entries: for the index, folders, and rounding to
 * blocks. */
enum { SPARE_BYTES = 1 << 20 };
/* The most content that is kept in memory, for which the decompressor needs no window; an import
 * stays below 300 MB. */
enum { KEPT_BYTES = 256 << 20 };
enum { MAX_ANSWER = 1 << 20, MAX_ACCOUNT_S = 600 };

static int find_import_directory(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct jw_system *system = import->system;
	struct jw_cache_info settings;
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

static const char *import_larger_limit(char text[IMPORT_ADVICE], uint64_t least_bytes,
									   uint64_t roomy_bytes)
{
	if (least_bytes > CACHE_MAX_LIMIT)
		(void)text_format(text, IMPORT_ADVICE,
						  "no cache limit exceeds 4 GiB, so import a part of the pack");
	else
		(void)text_format(
			text, IMPORT_ADVICE,
			"raise the limit with “jitwarm tune --apply --max-size %llu” and log in again",
			(unsigned long long)(roomy_bytes < CACHE_MAX_LIMIT ? roomy_bytes : CACHE_MAX_LIMIT));
	return text;
}

static int check(struct jw_error *err, struct import *import)
{
	struct reader *reader = NULL;
	int result;

	if (import->checked) {
		import->source = import->checked->source;
		TEXT_COPY(import->result->signed_by, import->checked->result->signed_by);
		TEXT_COPY(import->result->note, import->checked->result->note);
	} else if (source_open(err, import->options->path, &import->options->cancel, &import->source) ||
			   trust_check(err, import->options, import->source, import->result)) {
		return -1;
	}
	if (reader_open(err, import->source, &import->manifest, &reader))
		return -1;
	result = import_check_entries(err, import, reader);
	reader_close(reader);
	return result;
}

int import_decide(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct jw_import_result *result = import->result;
	const uint64_t limit = import->limit_bytes;
	uint64_t wanted;
	char text[2][TEXT_SHORT], advice[IMPORT_ADVICE], *nearest;
	struct os_space space;
	bool known;

	if (import_decide_entries(err, import))
		return -1;
	if (result->accepted_bytes > limit)
		return error_set(
			err, JW_ERR_LIMIT, "its entries take %s, and the cache limit is %s: %s",
			text_bytes(text[0], result->accepted_bytes), text_bytes(text[1], limit),
			import_larger_limit(advice, result->accepted_bytes, result->accepted_bytes * 3 / 2));
	if (result->evicted && !options->evict && !options->dry_run)
		return error_set(
			err, JW_ERR_LIMIT,
			"%s: %s (%s) would be evicted, since the cache limit is %s; %s, or free "
			"space with “jitwarm cache prune”",
			result->path,
			TEXT_COUNT(result->evicted, "entry of other programs", "entries of other programs"),
			text_bytes(text[0], result->evicted_bytes), text_bytes(text[1], limit),
			import_larger_limit(advice, import->evicts_nothing_bytes,
								limit + result->evicted_bytes * 3 / 2));
	nearest = os_nearest(result->path);
	wanted = import->new_bytes - smaller(import->new_bytes, result->evicted_bytes) + SPARE_BYTES;
	known = import->new_bytes && !os_space(NULL, nearest, &space);
	mem_free(nearest);
	if (known && space.free_bytes < wanted)
		return error_set(err, JW_ERR_IO,
						 "%s: the new entries need %s of free space, and %s are free", result->path,
						 text_bytes(text[0], wanted), text_bytes(text[1], space.free_bytes));
	return 0;
}

static void import_free(struct import *import)
{
	if (!import->checked)
		source_close(import->source);
	member_walk_free(&import->walk);
	manifest_free(&import->manifest);
	mem_free(import->fates);
	set_free(&import->keys);
	jw_import_result_free(import->result);
}

/* Imports the pack; files that it opens stay open. */
static int import_run(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	uint64_t started_ns = os_monotonic_ns();
	int result = 0;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	import->system = options->system;
	import->most_kept_bytes = options->pack_only ? 0 : KEPT_BYTES;
	/* A directory that the superuser fills by name is for other accounts, for example in an
	 * image. */
	import->new_mode = os_is_superuser() && options->cache_dir ? 0755 : 0;
	import->result = mem_alloc(sizeof *import->result);
	if ((!options->pack_only && find_import_directory(err, import)) || check(err, import) ||
		(!options->pack_only && import_decide(err, import)))
		return -1;
	import->result->pack_bytes = source_size(import->source);
	import->result->content_bytes = manifest_content(&import->manifest);
	if (!options->pack_only && import->wanted)
		result = options->dry_run
					 ? cache_live_try(err, import->result->path, &(struct cache_live_options){0})
					 : import_insert_entries(err, import);
	import->result->dry_run = options->dry_run;
	import->result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	return result;
}

int jw_import(struct jw_error *err, const struct jw_import_options *options,
			  struct jw_import_result **ret_result)
{
	struct import import = {.options = options};
	int result = import_run(err, &import);

	if (!result) {
		*ret_result = import.result;
		import.result = NULL;
	}
	import_free(&import);
	return result;
}

void jw_import_result_free(struct jw_import_result *result)
{
	if (!result)
		return;
	mem_free(result->path);
	mem_free(result->groups);
	mem_free(result);
}

/* jw_import_all: imports a pack into the account of every person. */

struct account_import {
	const struct jw_import_options *given;
	const struct jw_account *account;
	const struct import *checked; /* the pack, which this process has opened and verified */
};

/* Imports in a process that runs as the account. Its answer has the result, its groups and its
 * path. */
static int import_as_account(struct jw_error *err, void *context, struct buf *answer)
{
	const struct account_import *job = context;
	struct jw_import_options options = *job->given;
	struct import import = {.options = &options, .checked = job->checked};
	char *dir = NULL;
	int result = -1;

	if (os_account_cache_dir(err, job->account, &dir))
		return -1;
	options.cache_dir = dir;
	if (!import_run(err, &import))
		result =
			buf_append(err, answer, import.result, sizeof *import.result) ||
					buf_append(err, answer, import.result->groups,
							   import.result->group_count * sizeof *import.result->groups) ||
					buf_append(err, answer, import.result->path, strlen(import.result->path) + 1)
				? -1
				: 0;
	import_free(&import);
	mem_free(dir);
	return result;
}

/* Reads the answer of that process, which is as hostile as a file, since the process has another
 * account's rights. */
static int take_answer(struct jw_error *err, const struct buf *answer,
					   struct jw_import_result **ret_result)
{
	struct jw_import_result *result = mem_alloc(sizeof *result);
	const size_t size = sizeof *result;
	size_t groups_bytes;

	if (answer->size < size)
		goto bad;
	memcpy(result, answer->data, size);
	result->path = NULL;
	result->groups = NULL;
	groups_bytes = result->group_count * sizeof *result->groups;
	if (result->group_count > answer->size / sizeof *result->groups ||
		groups_bytes >= answer->size - size || answer->data[answer->size - 1])
		goto bad;
	result->groups = mem_array(result->group_count, sizeof *result->groups);
	memcpy(result->groups, answer->data + size, groups_bytes);
	result->path = mem_string((const char *)answer->data + size + groups_bytes);
	result->signed_by[sizeof result->signed_by - 1] = result->note[sizeof result->note - 1] = '\0';
	for (size_t i = 0; i < result->group_count; i++) {
		struct jw_import_group *group = &result->groups[i];

		group->target[sizeof group->target - 1] = group->driver[sizeof group->driver - 1] =
			group->why[sizeof group->why - 1] = '\0';
		if (group->verdict > JW_IMPORT_REFUSED)
			goto bad;
	}
	*ret_result = result;
	return 0;
bad:
	jw_import_result_free(result);
	return error_set(err, JW_ERR_IO, "the process that acted as that account ended early");
}

static void tell_slow(void *context, long process)
{
	const struct account_import *job = context;

	if (job->given->slow)
		job->given->slow(job->given->context, job->account->name, process, MAX_ACCOUNT_S);
}

/* Imports for one account. A damaged folder of one account must not keep the others from their
 * import. */
static void import_for(struct account_import *job, struct jw_import_all_result *all)
{
	struct jw_import_account *made = &all->accounts[all->count++];
	struct buf answer = BUF_MAX(MAX_ANSWER);
	int result;

	made->name = mem_string(job->account->name);
	result = os_work_as(&made->failed, job->account, source_descriptor(job->checked->source),
						MAX_ACCOUNT_S, import_as_account, tell_slow, job, &answer) ||
					 take_answer(&made->failed, &answer, &made->result)
				 ? -1
				 : 0;
	buf_free(&answer);
	all->failed += result != 0;
}

int jw_import_all(struct jw_error *err, const struct jw_import_options *given,
				  struct jw_import_all_result **ret_result)
{
	struct jw_import_options options = *given;
	struct import checked = {.options = &options};
	struct account_import job = {.given = given, .checked = &checked};
	struct jw_accounts accounts = {0};
	struct jw_import_all_result *all = NULL;
	int result = -1;

	/* Checks the whole pack with our own keys and without a directory. */
	options.dry_run = options.pack_only = true;
	if ((given->system && import_needs_stamp(err, given->system)) || import_run(err, &checked) ||
		jw_accounts_people(err, &accounts))
		goto done;
	if (!accounts.count) {
		error_set(err, JW_ERR_NOT_FOUND, "no user's account on this machine has a home directory");
		goto done;
	}
	all = mem_alloc(sizeof *all);
	all->accounts = mem_array(accounts.count, sizeof *all->accounts);
	result = 0;
	for (size_t i = 0; !result && i < accounts.count; i++) {
		job.account = &accounts.items[i];
		import_for(&job, all);
		result = cancel_check(err, &given->cancel);
	}
done:
	jw_accounts_free(&accounts);
	import_free(&checked);
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
