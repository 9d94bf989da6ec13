/* Verifies and lists whole directories: real ones, and ones that were damaged here. */
#include "caches.h"

#include <unistd.h>

#include <jitwarm/cache.h>

#include "base/cursor.h"
#include "cache/key.h"
#include "entries.h"
#include "files.h"
#include "folder.h"
#include "os/platform.h"

static struct jw_cache_report *verify_under(const char *dir, uint64_t limit_bytes)
{
	struct jw_cache_options options = {
		.size = sizeof options, .path = dir, .limit_bytes = limit_bytes};
	struct jw_cache_report *report = NULL;

	assert_int_equal(jw_cache_verify(NULL, &options, &report), 0);
	return report;
}

static struct jw_cache_report *verify(const char *dir)
{
	return verify_under(dir, UINT64_C(1) << 30);
}

/* ---- made here */

/* Entries 1 … 3 with their rows, and a total that is larger by `surplus`. */
static char *make_cache(const char *name, uint64_t surplus)
{
	char *dir = os_join(NULL, folder, name), file[CACHE_NAME_SIZE];
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

/* A file that stays open would take another number away. */
TEST(files_are_closed_again)
{
	char *dir = make_cache("closed", 0);
	int before, after;

	before = dup(STDOUT_FILENO);
	(void)close(before);
	for (int i = 0; i < 3; i++)
		jw_cache_report_free(verify(dir));
	after = dup(STDOUT_FILENO);
	(void)close(after);
	assert_int_equal(after, before);
	mem_free(dir);
}

TEST(damage_is_counted_and_named)
{
	char *dir = make_cache("damaged", 0), name[CACHE_NAME_SIZE];
	struct entries_entry entry;
	struct jw_cache_report *report;

	entries_make(&entry, 1, 100);
	entry.bytes[entry.size - 1] ^= 1;
	files_put(dir, cache_entry_name(name, entry.key), entry.bytes, entry.size);
	files_put(dir, "0/0/00000000000000", "torn", 4);
	files_put(dir, "0/0/00000000000001", "", 0);
	files_put(dir, "0/0/README", "x", 1);
	files_put(dir, "notes.txt", "x", 1);
	files_put(dir, ".jitwarm-12345678/0", "x", 1);
	report = verify(dir);
	assert_int_equal(report->entries, 5);
	assert_int_equal(report->sound, 2);
	assert_int_equal(report->damaged, 3);
	assert_int_equal(report->files_without_row, 2);
	assert_int_equal(report->rows_without_file, 0);
	assert_int_equal(report->foreign, 2);
	assert_string_equal(report->damaged_entries[0].name, "0/0/00000000000000");
	assert_string_equal(report->damaged_entries[0].reason, "shorter than an entry's header");
	assert_string_equal(report->damaged_entries[1].reason, "empty file");
	assert_string_equal(report->outlook.next_insert, "adds");
	jw_cache_report_free(report);
	mem_free(dir);
}

/* An entry whose name and checksum are right, with a key of that stamp and tail. */
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

/* The driver uses it, and programs fail with it at each start. */
TEST(machine_code_that_no_driver_loads_is_damage)
{
	static const char of_550[] = "Apr  8 202512:10:18", of_no_driver[] = "Jan  1 202000:00:00";
	static const struct {
		const char *stamp, *tail, *reason; /* reason NULL: sound */
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
		{of_550, " -arch=sm_86 -c", NULL, 0, .relocatable = false}, /* libnvJitLink's */
		{of_no_driver, " ", NULL, 0, .relocatable = false},
		{of_no_driver, " ", NULL, 75, .relocatable = false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = mem_printf(NULL, "%s/loads-%zu", folder, i);
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
		jw_cache_report_free(report);
		mem_free(dir);
	}
}

TEST(the_next_insert_is_predicted)
{
	static const struct {
		const char *what;
		uint64_t surplus;
		size_t cut_to; /* 0: whole */
		const char *index, *next;
		bool harmful;
	} cases[] = {
		{.what = "whole", .index = "sound", .next = "adds"},
		{.what = "total too large", .surplus = 1000, .index = "sound", .next = "evicts_soon"},
		{.what = "total past the limit",
		 .surplus = UINT64_C(1) << 30,
		 .index = "sound",
		 .next = "evicts_all",
		 .harmful = true},
		{.what = "total too small", .surplus = (uint64_t)-100, .index = "sound", .next = "adds"},
		{.what = "cut", .cut_to = 63, .index = "truncated", .next = "wipes", .harmful = true},
		{.what = "cut header",
		 .cut_to = 7,
		 .index = "not an index",
		 .next = "wipes",
		 .harmful = true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = make_cache("index", cases[i].surplus);
		char *index = os_join(NULL, dir, "index");
		struct buf bytes = {0};
		struct jw_cache_report *report;

		assert_int_equal(os_read_file(NULL, index, 1000, &bytes), 0);
		if (cases[i].cut_to)
			assert_int_equal(os_write_atomic(NULL, index, bytes.data, cases[i].cut_to), 0);
		report = verify(dir);
		assert_string_equal(report->outlook.index, cases[i].index);
		assert_string_equal(report->outlook.next_insert, cases[i].next);
		assert_int_equal(report->outlook.harmful, cases[i].harmful);
		assert_int_equal(report->sound, 3);
		jw_cache_report_free(report);
		buf_free(&bytes);
		mem_free(index);
		mem_free(dir);
	}
}

TEST(entries_past_the_limit_are_counted)
{
	char *dir = make_cache("smaller", 0);
	struct jw_cache_report *report = verify(dir);
	const uint64_t total = report->index_bytes;
	struct jw_cache_outlook outlook;

	jw_cache_report_free(report);
	for (unsigned i = 0; i < 3; i++) {
		/* One byte less than i entries fewer */
		static const size_t evicted[] = {1, 2, 3};
		struct entries_entry entry;
		uint64_t limit = total - 1;

		for (unsigned n = 1; n <= i; n++) {
			entries_make(&entry, n, 100 * n);
			limit -= entry.row_bytes;
		}
		if (i) {
			report = verify_under(dir, limit + 1);
			assert_int_equal(report->outlook.evicted, evicted[i - 1]);
			jw_cache_report_free(report);
		}
		report = verify_under(dir, limit);
		outlook = report->outlook;
		assert_string_equal(outlook.next_insert, "evicts");
		assert_int_equal(outlook.evicted, evicted[i]);
		assert_false(outlook.harmful);
		assert_non_null(strstr(outlook.text, "CUDA_CACHE_MAXSIZE"));
		jw_cache_report_free(report);
	}
	report = verify_under(dir, total);
	assert_string_equal(report->outlook.next_insert, "adds");
	assert_string_equal(report->outlook.text, "");
	jw_cache_report_free(report);
	mem_free(dir);
}

TEST(a_missing_or_foreign_directory_is_reported)
{
	char *file = os_join(NULL, folder, "file"), *foreign = os_join(NULL, folder, "foreign");
	char *empty = os_join(NULL, folder, "empty"), *missing = os_join(NULL, folder, "missing");
	struct jw_cache_report *report;
	const struct {
		const char *path;
		enum jw_code code;
	} cases[] = {{missing, JW_ERR_NOT_FOUND}, {file, JW_ERR_FORMAT}, {foreign, JW_ERR_FORMAT}};

	assert_int_equal(os_write_atomic(NULL, file, "x", 1), 0);
	files_put(foreign, "a/b/readme", "x", 1);
	assert_int_equal(os_make_dirs(NULL, empty, 0700), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jw_cache_options options = {.size = sizeof options, .path = cases[i].path};
		struct jw_error err = {0};

		assert_int_equal(jw_cache_verify(&err, &options, &report), -1);
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.message, cases[i].path));
	}
	report = verify(empty);
	assert_int_equal(report->entries, 0);
	assert_false(report->outlook.harmful);
	jw_cache_report_free(report);
	mem_free(file);
	mem_free(foreign);
	mem_free(empty);
	mem_free(missing);
}

TEST(a_list_is_in_the_order_of_eviction)
{
	char *dir = make_cache("list", 0);
	struct jw_cache_options options = {.size = sizeof options, .path = dir};
	struct jw_cache_listing *list = NULL;
	struct entries_entry entry;

	files_put(dir, "0/0/00000000000000", "torn", 4);
	assert_int_equal(jw_cache_list(NULL, &options, &list), 0);
	assert_int_equal(list->count, 4);
	for (unsigned n = 1; n <= 3; n++) {
		const struct jw_cache_entry *one = &list->entries[n - 1];

		entries_make(&entry, n, 100 * n);
		assert_int_equal(one->key, entry.key);
		assert_true(one->in_index && !one->damaged);
		assert_int_equal(one->target.sm, 86);
		assert_string_equal(one->driver, "Jun 25 202401:14:48");
		assert_int_equal(one->value_bytes, ENTRIES_CUBIN + 100 * n);
		assert_int_equal(one->kind, JW_CACHE_CUDA);
	}
	assert_false(list->entries[3].in_index);
	assert_true(list->entries[3].damaged);
	jw_cache_list_free(list);
	mem_free(dir);
}

static bool stop_at_once(void *context)
{
	++*(int *)context;
	return true;
}

TEST(it_stops_when_asked)
{
	char *dir = make_cache("stopped", 0);
	int asked = 0;
	struct jw_cache_options options = {
		.size = sizeof options, .path = dir, .cancel = {&asked, stop_at_once}};
	struct jw_cache_report *report;
	struct jw_error err = {0};

	assert_int_equal(jw_cache_verify(&err, &options, &report), -1);
	assert_int_equal(err.code, JW_ERR_INTERRUPTED);
	assert_int_equal(asked, 1);
	mem_free(dir);
}

/* Called between the walk and the reading: as if a driver evicted an entry just then. */
static bool evict_one(void *context)
{
	char name[CACHE_NAME_SIZE], *path;
	struct entries_entry entry;

	entries_make(&entry, 2, 200);
	path = os_join(NULL, context, cache_entry_name(name, entry.key));
	assert_int_equal(os_remove(NULL, path), 0);
	mem_free(path);
	return false;
}

TEST(an_entry_removed_meanwhile_is_not_damage)
{
	char *dir = make_cache("evicted", 0);
	struct jw_cache_options options = {
		.size = sizeof options, .path = dir, .cancel = {dir, evict_one}};
	struct jw_cache_report *report;

	assert_int_equal(jw_cache_verify(NULL, &options, &report), 0);
	assert_int_equal(report->entries, 2);
	assert_int_equal(report->sound, 2);
	assert_int_equal(report->damaged, 0);
	jw_cache_report_free(report);
	mem_free(dir);
}

/* Of 48 MB each: key and value longer than one read, with the end of the options and of the value
 * in their last pieces. */
static uint64_t put_large(const char *dir, bool sound)
{
	enum { PIECE = 1 << 20, PIECES = 24 };
	static const char start[] = "Jun 25 202401:14:48HOST64sm_86.version 8.4 ", end[] = "\0 -v  ";
	uint8_t header[CACHE_ENTRY_HEADER], cubin[ENTRIES_CUBIN], *piece = mem_alloc(NULL, PIECE);
	uint64_t key = fnv_update(FNV_START, start, sizeof start - 1), value = FNV_START;
	uint64_t key_bytes = sizeof start - 1 + (uint64_t)PIECES * PIECE + sizeof end - 1;
	char *file = os_join(NULL, dir, "large"), *path, *above;
	struct os_file *out;

	memset(piece, sound ? 'a' : 'b', PIECE);
	entries_cubin(cubin, 86, false);
	value = fnv_update(value, cubin, sizeof cubin);
	for (size_t i = 0; i < PIECES; i++) {
		key = fnv_update(key, piece, PIECE);
		value = fnv_update(value, piece, i ? PIECE : PIECE - sizeof cubin);
	}
	key = fnv_update(key, end, sizeof end - 1);
	cache_entry_header(header, key_bytes, (uint64_t)PIECES * PIECE, value ^ !sound);
	assert_int_equal(os_file_open(NULL, file, OS_OPEN_CREATE, &out), 0);
	assert_int_equal(os_file_write(NULL, out, 0, header, sizeof header), 0);
	assert_int_equal(os_file_write(NULL, out, sizeof header, start, sizeof start - 1), 0);
	for (uint64_t i = 0; i < PIECES; i++) {
		uint64_t at = sizeof header + sizeof start - 1 + i * PIECE;

		assert_int_equal(os_file_write(NULL, out, at, piece, PIECE), 0);
		assert_int_equal(
			os_file_write(NULL, out, sizeof header + key_bytes + i * PIECE, piece, PIECE), 0);
	}
	assert_int_equal(os_file_write(NULL, out, sizeof header + key_bytes, cubin, sizeof cubin), 0);
	assert_int_equal(
		os_file_write(NULL, out, sizeof header + key_bytes - (sizeof end - 1), end, sizeof end - 1),
		0);
	os_file_close(out);
	path = cache_entry_path(NULL, dir, key);
	above = os_dir_name(NULL, path);
	assert_int_equal(os_make_dirs(NULL, above, 0700), 0);
	assert_int_equal(os_rename(NULL, file, path), 0);
	mem_free(piece);
	mem_free(file);
	mem_free(path);
	mem_free(above);
	return key;
}

TEST(large_entries_are_read_in_pieces)
{
	char *dir = make_cache("large", 0), name[CACHE_NAME_SIZE];
	uint64_t sound = put_large(dir, true), damaged = put_large(dir, false), before, after;
	struct jw_cache_options options = {
		.size = sizeof options, .path = dir, .limit_bytes = UINT64_C(1) << 30};
	struct jw_cache_report *report;
	struct jw_cache_listing *list;

	before = os_peak_resident_bytes();
	report = verify(dir);
	assert_int_equal(jw_cache_list(NULL, &options, &list), 0);
	after = os_peak_resident_bytes();
	assert_true(after - before < 16 << 20);
	assert_int_equal(report->sound, 4);
	assert_int_equal(report->damaged, 1);
	assert_string_equal(report->damaged_entries[0].name, cache_entry_name(name, damaged));
	assert_int_equal(report->kinds[JW_CACHE_CUDA], 4);
	for (size_t i = 0; i < list->count; i++) {
		const struct jw_cache_entry *entry = &list->entries[i];

		if (entry->key != sound)
			continue;
		assert_string_equal(entry->options, "-v  ");
		assert_int_equal(entry->target.sm, 86);
		assert_int_equal(entry->value_bytes, 24 << 20);
		assert_int_equal(entry->payload_bytes, (24 << 20) + 13);
		sound = 0;
	}
	assert_int_equal(sound, 0);
	jw_cache_list_free(list);
	jw_cache_report_free(report);
	assert_int_equal(os_remove_tree(NULL, dir), 0);
	mem_free(dir);
}

/* ---- real ones */

static void unpack_one(void *context, const char *path, const struct buf *content)
{
	files_put(context, path, content->data, content->size);
}

static size_t group(const struct jw_cache_group *groups, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(groups[i].name, name))
			return groups[i].entries;
	return 0;
}

/* The list reads both ends of keys, and reports the same as from whole keys. */
static void check_list(const char *dir, size_t entries)
{
	const struct jw_cache_options options = {.size = sizeof options, .path = dir};
	struct jw_cache_listing *list;

	assert_int_equal(jw_cache_list(NULL, &options, &list), 0);
	assert_int_equal(list->count, entries);
	for (size_t i = 0; i < list->count; i++) {
		const struct jw_cache_entry *entry = &list->entries[i];
		char *path = cache_entry_path(NULL, dir, entry->key);
		struct cache_key_parts parts;
		struct cache_origin origin;
		struct cache_entry whole;
		struct buf bytes = {0};

		assert_int_equal(os_read_file(NULL, path, CACHE_MOST_ENTRY, &bytes), 0);
		assert_int_equal(cache_entry_parse(bytes.data, bytes.size, &whole), CACHE_SOUND);
		cache_entry_origin(&whole, &origin);
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
		mem_free(path);
	}
	jw_cache_list_free(list);
}

static void real_caches_are_sound_and_counted_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < CACHES_COUNT; i++) {
		const struct caches_archive *archive = &caches_archives[i];
		char *dir = os_join(NULL, folder, archive->name);
		struct jw_cache_report *report;

		caches_each(archive->name, unpack_one, dir);
		/* One of them holds more than a gigabyte. */
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
		if (!strcmp(archive->name, "framework-2018-sm70")) {
			assert_int_equal(group(report->by_arch, report->arch_count, "sm_70"), 152);
			assert_int_equal(report->driver_count, 2);
			assert_int_equal(group(report->by_driver, report->driver_count, "Oct 17 201820:07:28"),
							 76);
		}
		jw_cache_report_free(report);
		check_list(dir, archive->entries);
		assert_int_equal(os_remove_tree(NULL, dir), 0);
		mem_free(dir);
	}
}

TEST_PROGRAM
{
	const struct CMUnitTest real[] = {cmocka_unit_test(real_caches_are_sound_and_counted_right)};
	int failed = RUN_GROUP(make_folder, remove_folder);

	if (failed || !caches_here())
		return failed ? failed : CHECK_SKIP;
	return cmocka_run_group_tests_name("real caches", real, make_folder, remove_folder);
}
