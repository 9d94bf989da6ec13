/* jw_cache_verify: reads and hashes every entry, and compares the index with the files. */
#include <jitwarm/cache.h>

#include "base/mem.h"
#include "cache/index.h"
#include "cache/verified.h"
#include "cache/view.h"

struct verify {
	struct jw_cache_report *report;
	struct cache_files scan;
	struct cache_index index;
	uint64_t counted_bytes; /* of report->entries */
	size_t damaged_capacity;
};

static int add_damaged(struct jw_error *err, struct verify *verify, uint64_t key,
					   enum cache_damage damage)
{
	struct jw_cache_report *report = verify->report;
	struct jw_cache_damaged *one;

	if (VEC_ROOM(err, report->damaged_entries, verify->damaged_capacity, report->damaged,
				 CACHE_MOST_FILES))
		return -1;
	one = &report->damaged_entries[report->damaged++];
	(void)cache_entry_name(one->name, key);
	one->reason = cache_damage_text(damage);
	return 0;
}

/* A driver evicts entries: a missing file is not damage. */
static int count_verified(struct jw_error *err, struct verify *verify,
						  const struct cache_file *file, const struct cache_candidate *entry)
{
	struct jw_cache_report *report = verify->report;

	if (entry->damage && cache_presence(report->path, entry->key, 0, NULL) == CACHE_ABSENT)
		return 0;
	report->entries++;
	report->bytes += entry->probed.size_bytes;
	verify->counted_bytes += cache_file_counts(file);
	if (entry->damage)
		return add_damaged(err, verify, entry->key, entry->damage);
	report->sound++;
	report->kinds[entry->kind]++;
	return 0;
}

static int check_entries(struct jw_error *err, struct verify *verify,
						 const struct jw_cache_options *options)
{
	const struct cache_files *scan = &verify->scan;
	struct cache_candidate *entries = mem_array(scan->count, sizeof *entries);
	int result = 0;

	for (size_t i = 0; i < scan->count; i++)
		entries[i] =
			(struct cache_candidate){.key = scan->files[i].key, .probed = scan->files[i].probed};
	if (!result)
		result =
			cache_verified_judge(err, NULL, verify->report->path, sound_driver_of(options->driver),
								 &options->cancel, entries, scan->count);
	for (size_t i = 0; !result && i < scan->count; i++)
		result = count_verified(err, verify, &scan->files[i], &entries[i]);
	mem_free(entries);
	return result;
}

/* A file may be longer than its entry: a driver writes a shorter one over it. */
static bool is_of_other_size(const struct verify *verify, const struct cache_row *row,
							 const struct cache_file *file)
{
	struct cache_probed probed;

	return file->probed.size_bytes - CACHE_ENTRY_HEADER != row->size_bytes &&
		   cache_presence(verify->report->path, row->key, 0, &probed) == CACHE_PRESENT &&
		   probed.key_bytes + probed.value_bytes != row->size_bytes;
}

static void compare_rows(struct verify *verify, const struct set *rows)
{
	struct jw_cache_report *report = verify->report;

	for (size_t i = 0; i < verify->index.count; i++) {
		const struct cache_file *file;
		uint64_t key = verify->index.rows[i].key;
		size_t cursor = 0;

		if (set_find(rows, key, &cursor) != i)
			report->rows_repeated++;
		else if (!(file = cache_files_find(&verify->scan, key)))
			report->rows_without_file++;
		else
			report->rows_of_other_size += is_of_other_size(verify, &verify->index.rows[i], file);
	}
	for (size_t i = 0; i < verify->scan.count; i++) {
		size_t cursor = 0;

		report->files_without_row += set_find(rows, verify->scan.files[i].key, &cursor) == SET_NONE;
	}
}

static int check_index(struct verify *verify, uint64_t limit_bytes)
{
	struct jw_cache_report *report = verify->report;
	struct set rows = {0};
	int result = 0;

	cache_outlook_of(&verify->index, report->entries, verify->counted_bytes, limit_bytes,
					 &report->outlook);
	report->rows = verify->index.count;
	report->index_bytes = verify->index.total_bytes;
	report->rows_bytes = cache_index_rows_total(&verify->index);
	cache_index_map(&verify->index, &rows);
	if (!result)
		compare_rows(verify, &rows);
	set_free(&rows);
	return result;
}

int jw_cache_verify(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_report **ret_report)
{
	struct verify verify = {0};
	struct jw_error why = {0};
	uint64_t limit_bytes;
	int result = -1;

	verify.report = mem_alloc(sizeof *verify.report);
	if (!verify.report || cache_view_open(&why, options, cache_files_sizes, &verify.report->path,
										  &limit_bytes, &verify.scan, &verify.index))
		goto done;
	verify.report->foreign = verify.scan.foreign;
	verify.report->limit_bytes = limit_bytes;
	if (check_entries(&why, &verify, options) || check_index(&verify, limit_bytes))
		goto done;
	*ret_report = verify.report;
	verify.report = NULL;
	result = 0;
done:
	cache_files_free(&verify.scan);
	cache_index_free(&verify.index);
	jw_cache_report_free(verify.report);
	return result ? error_copy(err, &why) : 0;
}

void jw_cache_report_free(struct jw_cache_report *report)
{
	if (!report)
		return;
	mem_free(report->path);
	mem_free(report->damaged_entries);
	mem_free(report);
}
