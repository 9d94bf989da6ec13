/* Inserts small entries into a cache in the test's own folder. */
#pragma once

#include "check.h"

#include "base/mem.h"
#include "cache/index.h"
#include "cache/insert.h"
#include "cache/view.h"
#include "entries.h"
#include "os/file.h"
#include "os/folders.h"

static char *folder, *dir;

static inline int make_folder(void **state)
{
	(void)state;
	if (os_make_temp_dir(why, "jitwarm-test", &folder))
		return -1;
	dir = os_join(folder, "cache");
	return 0;
}

static inline int remove_folder(void **state)
{
	(void)state;
	mem_free(dir);
	return os_remove_tree(why, folder);
}

static inline void start_anew(void)
{
	OK(os_remove_tree(why, dir));
}

static inline struct cache_live *open_live(uint64_t limit, enum cache_when_full when_full)
{
	struct cache_live_options options = {
		.limit_bytes = limit, .when_full = when_full, .lock_wait_ms = 60};
	struct cache_live *live = NULL;

	OK(cache_live_open(why, dir, &options, &live));
	return live;
}

static inline struct cache_addition addition_of(const struct entries_entry *entry)
{
	return (struct cache_addition){.bytes = entry->bytes,
								   .size_bytes = entry->size,
								   .key = entry->key,
								   .key_bytes = entry->key_bytes,
								   .sm = 86,
								   .form = CACHE_KEY_LOAD};
}

static inline int insert_one(struct jw_error *err, struct cache_live *live, unsigned n,
							 size_t padding, enum cache_added *ret_added)
{
	struct entries_entry entry;
	struct cache_addition addition;
	int result;

	entries_make(&entry, n, padding);
	addition = addition_of(&entry);
	result = cache_insert(err, live, &addition, 1);
	if (ret_added)
		*ret_added = addition.added;
	return result;
}

/* Inserts entries first … last, one after the other, each with its own handle if `apart`. */
static inline void fill(unsigned first, unsigned last)
{
	struct cache_live *live = open_live(1 << 30, CACHE_FULL_REFUSE);

	for (unsigned n = first; n <= last; n++)
		OK(insert_one(why, live, n, 0, NULL));
	OK(cache_live_close(why, live));
}

static inline uint64_t key_of(unsigned n)
{
	struct entries_entry entry;

	entries_make(&entry, n, 0);
	return entry.key;
}

static inline bool row_of(const struct cache_index *index, uint64_t key)
{
	for (size_t i = 0; i < index->count; i++)
		if (index->rows[i].key == key)
			return true;
	return false;
}

/* Asserts that the index is sound, with exactly one row for each file and the right total. */
static inline void assert_consistent(size_t entries)
{
	struct cache_index index;
	struct cache_files scan;

	OK(cache_index_load(why, dir, &index));
	OK(cache_files_scan(why, dir, /* headers= */ true, NULL, &scan));
	assert_int_equal(index.state, CACHE_INDEX_SOUND);
	assert_int_equal(index.count, entries);
	assert_int_equal(scan.count, entries);
	assert_int_equal(index.total_bytes, cache_index_rows_total(&index));
	for (size_t i = 0; i < scan.count; i++) {
		assert_int_equal(scan.files[i].probed.damage, CACHE_SOUND);
		assert_true(row_of(&index, scan.files[i].key));
	}
	cache_files_free(&scan);
	cache_index_free(&index);
}

static inline void write_index(const void *bytes, size_t size)
{
	OK(os_write_atomic(why, keep(os_join(dir, "index")), bytes, size));
}
