/* jw_import: the first pass checks the whole pack, the second inserts the new entries. */
#include "pack/import.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/arena.h"
#include "base/smaller.h"
#include "base/text.h"
#include "cache/insert.h"
#include "cache/settings.h"
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

static int find_import_directory(struct jw_error *err, struct import *import)
{
	const struct jw_import_options *options = import->options;
	const struct jw_system *system = import->system;
	struct jw_cache_info settings;

	if (cache_settings_read(err, import->result, options->cache_dir, &settings))
		return -1;
	import->result->path = !options->cache_dir && system && system->cache.path
							   ? arena_string(import->result, system->cache.path)
							   : settings.path;
	if (!import->result->path)
		return error_set(err, JW_ERR_UNSUPPORTED, "%s",
						 settings.warning_count ? settings.warnings[0]
												: "the driver caches nothing");
	import->limit_bytes = options->limit_bytes ? options->limit_bytes
						  : system             ? system->cache.limit_bytes
											   : settings.limit_bytes;
	return 0;
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

	if (source_open(err, import->options->path, &import->options->cancel, &import->source) ||
		trust_check(err, import->options, import->source, import->result))
		return -1;
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
	if (result->evicted && !options->dry_run)
		return error_set(
			err, JW_ERR_LIMIT, "%s: %s (%s) would be evicted, since the cache limit is %s; %s",
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

int jw_import(struct jw_error *err, const struct jw_import_options *options,
			  struct jw_import_result **ret_result)
{
	struct import import = {.options = options,
							.system = options->system,
							.most_kept_bytes = KEPT_BYTES,
							.result = arena_open(sizeof *import.result)};
	uint64_t started_ns = os_monotonic_ns();
	int result = -1;

	/* A directory that the superuser fills by name is for other accounts, for example in an
	 * image. */
	import.new_mode = os_is_superuser() && options->cache_dir ? 0755 : 0;
	if (sodium_init() < 0)
		error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	else if (!find_import_directory(err, &import) && !check(err, &import) &&
			 !import_decide(err, &import)) {
		import.result->pack_bytes = source_size(import.source);
		import.result->content_bytes = manifest_content(&import.manifest);
		result = !import.wanted ? 0
				 : options->dry_run
					 ? cache_live_try(err, import.result->path, &(struct cache_live_options){0})
					 : import_insert_entries(err, &import);
		import.result->dry_run = options->dry_run;
		import.result->seconds = (double)(os_monotonic_ns() - started_ns) / 1e9;
	}
	source_close(import.source);
	member_walk_free(&import.walk);
	manifest_free(&import.manifest);
	mem_free(import.fates);
	set_free(&import.keys);
	(void)arena_keep(import.result, import.result->groups);
	if (!result)
		*ret_result = import.result;
	else
		jw_result_free(import.result);
	return result;
}
