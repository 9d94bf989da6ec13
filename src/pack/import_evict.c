/* Which entries of others an import would evict: the oldest, as at a driver's own insert. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/cache_files.h"
#include "cache/index.h"
#include "cache/settings.h"
#include "pack/import.h"

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

static uint64_t file_row_bytes(const struct cache_file *file)
{
	return file->probed.damage == CACHE_SOUND && file->probed.size_bytes > CACHE_ENTRY_HEADER
			   ? file->probed.size_bytes - CACHE_ENTRY_HEADER
			   : 0;
}

static void count_others(struct others *others)
{
	for (size_t i = 0; i < others->files.count; i++) {
		const struct cache_file *file = &others->files.files[i];

		others->counted[i] = file_row_bytes(file) && !writes(others->import, file->key);
		if (others->counted[i])
			others->total_bytes += file_row_bytes(file);
	}
}

static void give_up(struct others *others, const struct cache_file *file)
{
	const uint64_t bytes = file_row_bytes(file);
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
	const struct cache_file **rest = mem_array(err, others->files.count, sizeof(void *));
	struct cache_index index = {0};
	size_t count = 0;

	if (!rest || cache_index_load(err, others->import->result->path, &index)) {
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
	others->counted = mem_array(err, others->files.count, sizeof *others->counted);
	if (!others->counted)
		return -1;
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
		return why.code == JW_ERR_MEMORY ? error_copy(err, &why) : 0;
	result = count_evicted_files(err, import, &others);
	mem_free(others.counted);
	cache_files_free(&others.files);
	return result;
}

const char *import_larger_limit(char text[IMPORT_ADVICE], uint64_t least_bytes,
								uint64_t roomy_bytes)
{
	if (least_bytes > CACHE_MOST_LIMIT)
		(void)snprintf(text, IMPORT_ADVICE, "no driver keeps more than 4 GiB: import a part of it");
	else
		(void)snprintf(
			text, IMPORT_ADVICE, "set CUDA_CACHE_MAXSIZE=%llu, here and for the program",
			(unsigned long long)(roomy_bytes < CACHE_MOST_LIMIT ? roomy_bytes : CACHE_MOST_LIMIT));
	return text;
}

int import_refuse_evicting(struct jw_error *err, const struct import *import)
{
	const struct jw_import_result *result = import->result;
	const uint64_t limit = import->limit_bytes, evicted = result->evicted_bytes;
	char text[2][TEXT_SHORT], advice[IMPORT_ADVICE];

	if (!result->evicted || import->options->evict || import->options->dry_run)
		return 0;
	return error_set(
		err, JW_ERR_LIMIT,
		"%s: %s (%s) would be evicted, since the driver keeps %s: %s, or allow it with --evict",
		result->path, TEXT_COUNT(result->evicted, "entry of others", "entries of others"),
		text_bytes(text[0], evicted), text_bytes(text[1], limit),
		import_larger_limit(advice, import->evicts_nothing_bytes, limit + evicted * 3 / 2));
}
