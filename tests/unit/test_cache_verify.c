/* Verifying and listing a directory reports every damage and no other, on real directories and on
 * ones damaged here. */
#include "caches.h"

#include <jitwarm/cache.h>

#include "base/cursor.h"
#include "cache/key.h"
#include "entries.h"
#include "files.h"
#include "folder.h"

static struct jw_cache_report *verify_under(const char *dir, uint64_t limit_bytes)
{
	struct jw_cache_options options = {.path = dir, .limit_bytes = limit_bytes};
	struct jw_cache_report *report = NULL;

	OK(jw_cache_verify(why, &options, &report));
	return report;
}

static struct jw_cache_report *verify(const char *dir)
{
	return verify_under(dir, UINT64_C(1) << 30);
}

/* ---- directories made here */

/* Makes entries 1 … 3 with their rows, and a total that is larger by `surplus`. */
static char *make_cache(const char *name, uint64_t surplus)
{
	char *dir = os_join(folder, name), file[CACHE_NAME_SIZE];
	uint8_t index[16 + 3 * 16];
	uint64_t total = 0;

	for (unsigned n = 1; n <= 3; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 100 * n);
		files_put(dir, cache_entry_name(file, entry.key), entry.bytes, entry.size);
		store_u64(index + (size_t)16 * n, entry.key);
		store_u64(index + (size_t)16 * n + 8, entry.row_bytes);
		total += entry.row_bytes;
	}
	store_u32(index, CACHE_VERSION);
	store_u32(index + 4, 3);
	store_u64(index + 8, total + surplus);
	files_put(dir, "index", index, sizeof index);
	return dir;
}

/* Makes an entry whose name and checksum are right, with a key of that stamp and tail. */
static void put_value(const char *dir, const char *stamp, const char *tail, const void *value,
					  size_t size)
{
	char key[128], name[CACHE_NAME_SIZE];
	uint8_t bytes[CACHE_ENTRY_HEADER + sizeof key + ENTRIES_CUBIN];
	size_t length = (size_t)snprintf(key, sizeof key, "%sHOST64sm_86//%c%s", stamp, 0, tail);

	cache_entry_header(bytes, length, size, fnv_update(FNV_START, value, size));
	memcpy(bytes + CACHE_ENTRY_HEADER, key, length);
	memcpy(bytes + CACHE_ENTRY_HEADER + length, value, size);
	files_put(dir, cache_entry_name(name, fnv_update(FNV_START, key, length)), bytes,
			  CACHE_ENTRY_HEADER + length + size);
}

/* The driver uses the entry, and programs fail with it at each start. */
TEST(machine_code_that_no_driver_loads_is_damage)
{
	static const char of_550[] = "Apr  8 202512:10:18", of_no_driver[] = "Jan  1 202000:00:00";
	static const struct {
		const char *stamp, *tail, *reason; /* reason NULL: the entry is sound */
		uint16_t sm;                       /* 0: garbage */
		bool relocatable, newer, unknown;
	} cases[] = {
		{of_550, " ", NULL, 86, .relocatable = false},
		{of_550, " ", NULL, 80, .relocatable = false},
		{of_550, " ", "another GPU", 75, .relocatable = false},
		{of_550, " ", "not machine code", 0, .relocatable = false},
		{of_550, " ", "newer than its driver", 86, .newer = true},
		{of_550, " ", "not machine code", 86, .unknown = true},
		{of_550, " -c", NULL, 86, .relocatable = true},
		{of_550, " -c", "cannot be linked", 86, .relocatable = false},
		{of_550, " -arch=sm_86 -c", NULL, 0, .relocatable = false}, /* libnvJitLink's tail */
		{of_no_driver, " ", NULL, 0, .relocatable = false},
		{of_no_driver, " ", NULL, 75, .relocatable = false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = keep(mem_printf("%s/loads-%zu", folder, i));
		uint8_t cubin[ENTRIES_CUBIN];
		struct jw_cache_report *report;

		entries_cubin(cubin, cases[i].sm, cases[i].relocatable);
		if (!cases[i].sm)
			memset(cubin, 'x', sizeof cubin);
		if (cases[i].newer || cases[i].unknown) {
			cubin[7] = 0x41;
			cubin[8] = cases[i].unknown ? 9 : 8;
			store_u32(cubin + 48, (uint32_t)cases[i].sm << 8);
		}
		put_value(dir, cases[i].stamp, cases[i].tail, cubin, sizeof cubin);
		report = verify(dir);
		assert_int_equal(report->entries, 1);
		assert_int_equal(report->damaged, cases[i].reason != NULL);
		if (cases[i].reason)
			assert_non_null(strstr(report->damaged_entries[0].reason, cases[i].reason));
		jw_result_free(report);
	}
}

TEST(a_missing_or_foreign_directory_is_reported)
{
	char *file = keep(os_join(folder, "file")), *foreign = keep(os_join(folder, "foreign"));
	char *empty = keep(os_join(folder, "empty")), *missing = keep(os_join(folder, "missing"));
	struct jw_cache_report *report;
	const struct {
		const char *path;
		enum jw_code code;
	} cases[] = {{missing, JW_ERR_NOT_FOUND}, {file, JW_ERR_FORMAT}, {foreign, JW_ERR_FORMAT}};

	OK(os_write_atomic(why, file, "x", 1));
	files_put(foreign, "a/b/readme", "x", 1);
	OK(os_make_dirs(why, empty, 0700));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_cache_options options = {.path = cases[i].path};

		GIVES(cases[i].code, jw_cache_verify(why, &options, &report));
		assert_non_null(strstr(why->message, cases[i].path));
	}
	report = verify(empty);
	assert_int_equal(report->entries, 0);
	assert_false(report->outlook.harmful);
	jw_result_free(report);
}

/* Called between the listing and the reading, to act as a driver that evicts an entry just then. */
static bool evict_one(void *context)
{
	char name[CACHE_NAME_SIZE], *path;
	struct entries_entry entry;

	entries_make(&entry, 2, 200);
	path = keep(os_join(context, cache_entry_name(name, entry.key)));
	OK(os_remove(why, path));
	return false;
}

TEST(an_entry_removed_meanwhile_is_not_damage)
{
	char *dir = keep(make_cache("evicted", 0));
	struct jw_cache_options options = {.path = dir, .cancel = {dir, evict_one}};
	struct jw_cache_report *report;

	OK(jw_cache_verify(why, &options, &report));
	assert_int_equal(report->entries, 2);
	assert_int_equal(report->sound, 2);
	assert_int_equal(report->damaged, 0);
	jw_result_free(report);
}

/* ---- real directories */

static void unpack_one(void *context, const char *path, const struct buf *content)
{
	files_put(context, path, content->data, content->size);
}

/* The list reads only both ends of keys, and reports the same as from whole keys. */
static void check_list(const char *dir, size_t entries)
{
	const struct jw_cache_options options = {.path = dir};
	struct jw_cache_listing *list;

	OK(jw_cache_list(why, &options, &list));
	assert_int_equal(list->count, entries);
	for (size_t i = 0; i < list->count; i++) {
		const struct jw_cache_entry *entry = &list->entries[i];
		struct cache_key_parts parts;
		struct cache_origin origin;
		struct cache_entry whole;
		struct buf bytes = {0};

		OK(os_read_file(why, keep(cache_entry_path(dir, entry->key)), CACHE_MAX_ENTRY, &bytes));
		assert_int_equal(cache_entry_parse(bytes.data, bytes.size, &whole), CACHE_SOUND);
		cache_origin_of(whole.key, (size_t)whole.key_bytes, whole.value, (size_t)whole.value_bytes,
						&origin);
		assert_int_equal(entry->kind, (enum jw_cache_kind)origin.kind);
		assert_int_equal(entry->target.sm, origin.target.sm);
		assert_string_equal(entry->driver, origin.driver);
		assert_int_equal(entry->value_bytes, whole.value_bytes);
		if (cache_key_split(whole.key, (size_t)whole.key_bytes, &parts)) {
			assert_int_equal(entry->payload_bytes, parts.payload_size);
			assert_memory_equal(entry->options, parts.options, parts.options_length);
		} else {
			assert_int_equal(entry->payload_bytes, whole.key_bytes);
		}
		buf_free(&bytes);
	}
	jw_result_free(list);
}

static void real_caches_are_sound_and_counted_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < CACHES_COUNT; i++) {
		const struct caches_archive *archive = &caches_archives[i];
		char *dir = keep(os_join(folder, archive->name));
		struct jw_cache_report *report;

		caches_each(archive->name, unpack_one, dir);
		/* One of these directories holds more than a gigabyte. */
		report = verify_under(dir, UINT64_C(4) << 30);
		assert_int_equal(report->entries, archive->entries);
		assert_int_equal(report->sound, archive->entries);
		assert_int_equal(report->damaged, 0);
		assert_int_equal(report->rows, archive->rows);
		assert_int_equal(report->rows_without_file, archive->rows_without_file);
		assert_int_equal(report->files_without_row, archive->files_without_row);
		assert_int_equal(report->rows_repeated, 0);
		assert_int_equal(report->foreign, 0);
		assert_int_equal(report->kinds[JW_CACHE_OPENCL], archive->opencl);
		assert_int_equal(report->kinds[JW_CACHE_OTHER], 0);
		assert_string_equal(report->outlook.next_insert, "adds");
		jw_result_free(report);
		check_list(dir, archive->entries);
		OK(os_remove_tree(why, dir));
	}
}

TEST_PROGRAM
{
	const struct CMUnitTest real[] = {cmocka_unit_test(real_caches_are_sound_and_counted_right)};
	int failed = RUN_GROUP(make_folder, remove_folder);

	if (failed || !caches_here())
		return failed ? failed
					  : check_skip("no real caches here (JITWARM_TESTDATA names their folder)");
	return cmocka_run_group_tests_name("real caches", real, make_folder, remove_folder);
}
