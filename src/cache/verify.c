/* jw_cache_verify: reads and hashes every entry, and compares the index with the files. */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/cache.h>

#include "base/mem.h"
#include "base/sized.h"
#include "cache/index.h"
#include "cache/sound.h"
#include "cache/view.h"

enum { LOOK_AGAIN_MS = 20 };

struct verify {
	const struct jw_cache_options *options;
	struct jw_cache_report *report;
	struct cache_files scan;
	struct cache_index index;
	size_t damaged_capacity;
	uint8_t *damage; /* of each file of the scan */
	uint64_t *keys;  /* of those in progress */
	size_t *where;   /* their places in the scan */
	size_t reading;
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

static void read_later(struct verify *verify, size_t at)
{
	verify->keys[verify->reading] = verify->scan.files[at].key;
	verify->where[verify->reading++] = at;
}

static int count_judgement(struct jw_error *err, void *context, size_t at, enum cache_damage damage,
						   const struct cache_brief *brief)
{
	struct verify *verify = context;
	struct cache_origin origin;

	(void)err;
	verify->damage[verify->where[at]] = (uint8_t)damage;
	if (brief) {
		cache_entry_origin(&brief->entry, &origin);
		verify->report->sound++;
		verify->report->kinds[origin.kind]++;
	}
	return 0;
}

static int verify_entries(struct jw_error *err, struct verify *verify)
{
	const struct cache_sounding sounding = {.dir = verify->report->path,
											.driver = sound_driver_of(verify->options->driver),
											.context = verify,
											.cancel = verify->options->cancel,
											.judged = count_judgement};

	return cache_sound_all(err, &sounding, verify->keys, verify->reading);
}

/* A driver evicts entries and writes them in place: a missing file is not damage, and a torn one
 * may be complete a moment later. */
static int look_again_at(struct jw_error *err, struct verify *verify)
{
	verify->reading = 0;
	for (size_t i = 0; i < verify->scan.count; i++)
		if (verify->damage[i] != CACHE_SOUND)
			read_later(verify, i);
	if (!verify->reading)
		return 0;
	uv_sleep(LOOK_AGAIN_MS);
	return verify_entries(err, verify);
}

static int check_entries(struct jw_error *err, struct verify *verify)
{
	const struct cache_files *scan = &verify->scan;
	struct jw_cache_report *report = verify->report;

	verify->damage = mem_alloc(err, scan->count);
	verify->keys = mem_array(err, scan->count, sizeof *verify->keys);
	verify->where = mem_array(err, scan->count, sizeof *verify->where);
	if (!verify->damage || !verify->keys || !verify->where)
		return -1;
	for (size_t i = 0; i < scan->count; i++) {
		verify->damage[i] = (uint8_t)scan->files[i].probed.damage;
		if (scan->files[i].probed.damage == CACHE_SOUND)
			read_later(verify, i);
	}
	if (verify_entries(err, verify) || look_again_at(err, verify))
		return -1;
	for (size_t i = 0; i < scan->count; i++) {
		const struct cache_file *file = &scan->files[i];
		bool sound = verify->damage[i] == CACHE_SOUND;

		if (!sound && cache_presence(report->path, file->key, 0, NULL) == CACHE_ABSENT)
			continue;
		report->entries++;
		report->bytes += file->probed.size_bytes;
		if (!sound && add_damaged(err, verify, file->key, (enum cache_damage)verify->damage[i]))
			return -1;
	}
	return 0;
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

static int check_index(struct jw_error *err, struct verify *verify, uint64_t limit_bytes)
{
	struct jw_cache_report *report = verify->report;
	struct set rows = {0};
	int result = 0;

	cache_outlook_of(&verify->index, report->entries, report->bytes, limit_bytes, &report->outlook);
	report->rows = verify->index.count;
	report->index_bytes = verify->index.total_bytes;
	report->rows_bytes = cache_index_rows_total(&verify->index);
	result = cache_index_map(err, &verify->index, &rows);
	if (!result)
		compare_rows(verify, &rows);
	set_free(&rows);
	return result;
}

int jw_cache_verify(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_report **ret_report)
{
	options = SIZED(err, options, struct jw_cache_options);
	if (!options)
		return -1;
	struct verify verify = {.options = options};
	struct jw_error why = {0};
	uint64_t limit_bytes;
	int result = -1;

	verify.report = mem_alloc(&why, sizeof *verify.report);
	if (!verify.report || cache_view_open(&why, options, cache_files_sizes, &verify.report->path,
										  &limit_bytes, &verify.scan, &verify.index))
		goto done;
	verify.report->foreign = verify.scan.foreign;
	verify.report->limit_bytes = limit_bytes;
	if (check_entries(&why, &verify) || check_index(&why, &verify, limit_bytes))
		goto done;
	*ret_report = verify.report;
	verify.report = NULL;
	result = 0;
done:
	mem_free(verify.damage);
	mem_free(verify.keys);
	mem_free(verify.where);
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
