/* jw_cache_verify: reads and hashes every entry, and compares the index with the files. */
#include <jitwarm/cache.h>

#include "base/arena.h"
#include "cache/index.h"
#include "cache/outlook.h"
#include "cache/verified.h"
#include "cache/view.h"

struct verify {
	struct jw_cache_report *report;
	struct cache_view view;
	uint64_t counted_bytes; /* the bytes of report->entries that count */
	size_t damaged_capacity;
};

/* A missing file is not damage, since drivers evict entries. */
static void count_verified(struct verify *verify, const struct cache_file *file,
						   const struct cache_candidate *entry)
{
	struct jw_cache_report *report = verify->report;
	struct jw_cache_damaged *damaged;

	if (entry->damage && cache_presence(verify->view.path, entry->key, 0, NULL) == CACHE_ABSENT)
		return;
	report->entries++;
	report->bytes += entry->probed.stat.size_bytes;
	verify->counted_bytes += cache_file_counts(file);
	if (!entry->damage) {
		report->sound++;
		report->kinds[entry->kind]++;
		return;
	}
	(void)ARENA_ROOM(NULL, report, report->damaged_entries, verify->damaged_capacity,
					 report->damaged, CACHE_MAX_FILES);
	damaged = &report->damaged_entries[report->damaged++];
	damaged->key = entry->key;
	(void)cache_entry_name(damaged->name, entry->key);
	damaged->reason = cache_damage_text(entry->damage);
}

static int check_entries(struct jw_error *err, struct verify *verify,
						 const struct jw_cache_options *options)
{
	const struct cache_files *scan = &verify->view.files;
	struct cache_candidate *entries = mem_array(scan->count, sizeof *entries);
	int result;

	for (size_t i = 0; i < scan->count; i++)
		entries[i] =
			(struct cache_candidate){.key = scan->files[i].key, .probed = scan->files[i].probed};
	result = cache_verified_judge(err, NULL, verify->view.path, sound_driver_of(options->driver),
								  &options->cancel, entries, scan->count);
	for (size_t i = 0; !result && i < scan->count; i++)
		count_verified(verify, &scan->files[i], &entries[i]);
	mem_free(entries);
	return result;
}

/* Returns whether the row has another size than the entry. A file may be longer than its entry,
 * because a driver writes a shorter entry over a longer one. */
static bool is_of_other_size(const struct verify *verify, const struct cache_row *row,
							 const struct cache_file *file)
{
	struct cache_probed probed;

	return file->probed.stat.size_bytes - CACHE_ENTRY_HEADER != row->size_bytes &&
		   cache_presence(verify->view.path, row->key, 0, &probed) == CACHE_PRESENT &&
		   probed.key_bytes + probed.value_bytes != row->size_bytes;
}

static void check_index(struct verify *verify)
{
	struct jw_cache_report *report = verify->report;
	const struct cache_index *index = &verify->view.index;
	const struct cache_files *scan = &verify->view.files;
	struct set rows = cache_index_map(index);

	cache_outlook_of(index, report->entries, verify->counted_bytes, verify->view.limit_bytes,
					 &report->outlook);
	report->rows = index->count;
	report->index_bytes = index->total_bytes;
	report->rows_bytes = cache_index_rows_total(index);
	for (size_t i = 0; i < index->count; i++) {
		const struct cache_file *file = cache_files_find(scan, index->rows[i].key);
		size_t cursor = 0;

		if (set_find(&rows, index->rows[i].key, &cursor) != i)
			report->rows_repeated++;
		else if (!file)
			report->rows_without_file++;
		else
			report->rows_of_other_size += is_of_other_size(verify, &index->rows[i], file);
	}
	for (size_t i = 0; i < scan->count; i++)
		report->files_without_row += !set_has(&rows, scan->files[i].key);
	set_free(&rows);
}

int jw_cache_verify(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_report **ret_report)
{
	struct verify verify = {0};
	int result;

	if (cache_view_open(err, options, /* headers= */ false, &verify.view))
		return -1;
	verify.report = arena_open(sizeof *verify.report);
	verify.report->path = arena_string(verify.report, verify.view.path);
	verify.report->foreign = verify.view.files.foreign;
	verify.report->limit_bytes = verify.view.limit_bytes;
	result = check_entries(err, &verify, options);
	if (result) {
		jw_result_free(verify.report);
	} else {
		check_index(&verify);
		*ret_report = verify.report;
	}
	cache_view_free(&verify.view);
	return result;
}
