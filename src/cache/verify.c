/* jw_cache_verify: every entry read and hashed, the index held against the files. */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include <jitwarm/cache.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/index.h"
#include "cache/key_parts.h"
#include "cache/scan.h"
#include "cache/view.h"
#include "os/file.h"

/* Entries are hashed several at a time (base/hash.h), as far as they fit. They are read, not
 * mapped: a driver rewrites a damaged entry in place. */
enum { MOST_TOGETHER = 16, MOST_GROUPS = 1024, LOOK_AGAIN_MS = 20, MOST_SLEEPS = 50 };
#define MOST_BYTES_TOGETHER (UINT64_C(128) << 20)

struct verify {
	const struct jw_cache_options *options;
	struct jw_cache_report *report;
	struct cache_scan scan;
	struct cache_index index;
	size_t group_capacity[2], damaged_capacity;
	unsigned sleeps; /* a cache full of damage must not take for ever */
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

/* Hostile directories may hold any number of names: past MOST_GROUPS the rest goes under "". */
static int add_to_group(struct jw_error *err, struct jw_cache_group **groups, size_t *capacity,
						size_t *count, const char *name, uint64_t bytes)
{
	size_t at = 0;

	while (at < *count && strcmp((*groups)[at].name, name) != 0)
		at++;
	if (at == *count && at >= MOST_GROUPS && *name)
		return add_to_group(err, groups, capacity, count, "", bytes);
	if (at == *count) {
		if (VEC_ROOM(err, *groups, *capacity, *count, MOST_GROUPS + 1))
			return -1;
		(*groups)[at] = (struct jw_cache_group){0};
		memcpy((*groups)[at].name, name, strlen(name) + 1);
		++*count;
	}
	(*groups)[at].entries++;
	(*groups)[at].bytes += bytes;
	return 0;
}

static int add_sound(struct jw_error *err, struct verify *verify, const struct cache_entry *entry,
					 uint64_t bytes)
{
	struct jw_cache_report *report = verify->report;
	struct cache_origin origin;
	char arch[JW_TARGET_TEXT] = "";

	cache_entry_origin(entry, &origin);
	report->sound++;
	report->kinds[origin.kind]++;
	if (origin.target.sm)
		(void)jw_target_sm(arch, origin.target);
	return add_to_group(err, &report->by_arch, &verify->group_capacity[0], &report->arch_count,
						arch, bytes) ||
				   add_to_group(err, &report->by_driver, &verify->group_capacity[1],
								&report->driver_count, origin.driver, bytes)
			   ? -1
			   : 0;
}

/* ---- hashing */

struct together {
	const struct cache_file *files[MOST_TOGETHER];
	struct buf bytes[MOST_TOGETHER];
	struct cache_entry entries[MOST_TOGETHER];
	enum cache_damage damage[MOST_TOGETHER];
	bool gone[MOST_TOGETHER];
	size_t count;
};

static void take_file(const char *dir, const struct cache_file *file, struct together *together)
{
	size_t at = together->count++;
	char *path = cache_entry_path(NULL, dir, file->key);

	together->files[at] = file;
	together->bytes[at] = (struct buf){0};
	together->damage[at] = file->probed.damage;
	if (file->probed.damage == CACHE_SOUND) {
		if (!path || os_read_file(NULL, path, CACHE_MOST_ENTRY, &together->bytes[at]))
			together->damage[at] = CACHE_DAMAGE_READ;
		else
			together->damage[at] = cache_entry_parse(
				together->bytes[at].data, together->bytes[at].size, &together->entries[at]);
	}
	mem_free(path);
}

/* Values in the first half of the lanes, keys in the second: of like sizes side by side. */
static void hash_together(struct together *together)
{
	struct fnv_lane lanes[2 * MOST_TOGETHER];
	size_t count = 0;

	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < together->count; i++) {
			const struct cache_entry *entry = &together->entries[i];

			if (together->damage[i] == CACHE_SOUND)
				lanes[count++] =
					pass ? (struct fnv_lane){FNV_START, entry->key, (size_t)entry->key_bytes}
						 : (struct fnv_lane){FNV_START, entry->value, (size_t)entry->value_bytes};
		}
	}
	fnv_update_many(lanes, count);
	for (size_t i = 0, lane = 0; i < together->count; i++) {
		if (together->damage[i] != CACHE_SOUND)
			continue;
		if (lanes[count / 2 + lane].state != together->files[i]->key)
			together->damage[i] = CACHE_DAMAGE_NAME;
		else if (lanes[lane].state != together->entries[i].checksum)
			together->damage[i] = CACHE_DAMAGE_VALUE;
		lane++;
	}
}

/* A driver that is at work evicts entries, and writes them in place: what is gone is no damage, and
 * what is cut off may be whole a moment later. */
static void look_again(struct verify *verify, struct together *together)
{
	const char *dir = verify->report->path;
	bool slept = false;

	for (size_t i = 0; i < together->count; i++) {
		uint64_t key = together->files[i]->key;
		struct buf *bytes = &together->bytes[i];
		char *path;

		if (together->damage[i] == CACHE_SOUND)
			continue;
		if (!slept && verify->sleeps++ < MOST_SLEEPS)
			uv_sleep(LOOK_AGAIN_MS);
		slept = true;
		together->gone[i] = cache_probe(dir, key, 0, NULL) == CACHE_ABSENT;
		path = together->gone[i] ? NULL : cache_entry_path(NULL, dir, key);
		buf_free(bytes);
		if (path && !os_read_file(NULL, path, CACHE_MOST_ENTRY, bytes))
			together->damage[i] =
				cache_entry_verify(bytes->data, bytes->size, key, &together->entries[i]);
		mem_free(path);
	}
}

static int report_together(struct jw_error *err, struct verify *verify, struct together *together)
{
	int result = 0;

	hash_together(together);
	look_again(verify, together);
	for (size_t i = 0; i < together->count; i++) {
		verify->report->entries += !together->gone[i];
		verify->report->bytes += together->gone[i] ? 0 : together->files[i]->probed.size_bytes;
		if (!result && !together->gone[i] && together->damage[i] == CACHE_SOUND)
			result = add_sound(err, verify, &together->entries[i], together->bytes[i].size);
		else if (!result && !together->gone[i])
			result = add_damaged(err, verify, together->files[i]->key, together->damage[i]);
		buf_free(&together->bytes[i]);
	}
	return result;
}

static int check_entries(struct jw_error *err, struct verify *verify)
{
	const struct cache_scan *scan = &verify->scan;
	const struct jw_cache_options *options = verify->options;

	for (size_t at = 0; at < scan->count;) {
		struct together together = {0};
		uint64_t bytes = 0;

		if (options->stop && options->stop(options->context))
			return error_set(err, JW_ERR_INTERRUPTED, "interrupted");
		while (at < scan->count && together.count < MOST_TOGETHER &&
			   (!bytes || bytes + scan->files[at].probed.size_bytes <= MOST_BYTES_TOGETHER)) {
			bytes += scan->files[at].probed.size_bytes;
			take_file(verify->report->path, &scan->files[at++], &together);
		}
		if (report_together(err, verify, &together))
			return -1;
	}
	return 0;
}

/* ---- the index */

static void check_rows(struct verify *verify, const struct set *rows)
{
	struct jw_cache_report *report = verify->report;

	for (size_t i = 0; i < verify->index.count; i++) {
		uint64_t key = verify->index.rows[i].key;
		size_t cursor = 0;

		if (set_find(rows, key, &cursor) != i)
			report->rows_repeated++;
		else if (!cache_scan_find(&verify->scan, key))
			report->rows_without_file++;
	}
	for (size_t i = 0; i < verify->scan.count; i++) {
		size_t cursor = 0;

		report->files_without_row += set_find(rows, verify->scan.files[i].key, &cursor) == SET_NONE;
	}
}

static int check_index(struct jw_error *err, struct verify *verify, uint64_t limit_bytes)
{
	struct jw_cache_report *report = verify->report;
	enum cache_next_insert next = cache_index_next(&verify->index, limit_bytes);
	struct set rows = {0};
	int result = 0;

	/* Nothing can be lost where nothing is. */
	if (next == CACHE_NEXT_WIPES && !verify->scan.count)
		next = CACHE_NEXT_ADDS;
	report->rows = verify->index.count;
	report->index = cache_index_state_name(verify->index.state);
	report->index_bytes = verify->index.total_bytes;
	report->rows_bytes = cache_index_rows_total(&verify->index);
	report->next_insert = cache_next_insert_name(next);
	report->harmful = next == CACHE_NEXT_WIPES || next == CACHE_NEXT_EVICTS_ALL;
	result = cache_index_map(err, &verify->index, &rows);
	if (!result)
		check_rows(verify, &rows);
	set_free(&rows);
	return result;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct jw_cache_group *)a)->name,
				  ((const struct jw_cache_group *)b)->name);
}

int jw_cache_verify(struct jw_error *err, const struct jw_cache_options *options,
					struct jw_cache_report **ret_report)
{
	struct verify verify = {.options = options};
	struct jw_error why = {0};
	uint64_t limit_bytes;
	int result = -1;

	verify.report = mem_alloc(&why, sizeof *verify.report);
	if (!verify.report || cache_view_open(&why, options, &verify.report->path, &limit_bytes,
										  &verify.scan, &verify.index))
		goto done;
	verify.report->foreign = verify.scan.foreign;
	verify.report->limit_bytes = limit_bytes;
	if (check_entries(&why, &verify) || check_index(&why, &verify, limit_bytes))
		goto done;
	if (verify.report->arch_count)
		qsort(verify.report->by_arch, verify.report->arch_count, sizeof *verify.report->by_arch,
			  by_name);
	if (verify.report->driver_count)
		qsort(verify.report->by_driver, verify.report->driver_count,
			  sizeof *verify.report->by_driver, by_name);
	*ret_report = verify.report;
	verify.report = NULL;
	result = 0;
done:
	cache_scan_free(&verify.scan);
	cache_index_free(&verify.index);
	jw_cache_report_free(verify.report);
	return result ? error_set(err, why.code, "%s", why.message) : 0;
}

void jw_cache_report_free(struct jw_cache_report *report)
{
	if (!report)
		return;
	mem_free(report->path);
	mem_free(report->by_arch);
	mem_free(report->by_driver);
	mem_free(report->damaged_entries);
	mem_free(report);
}
