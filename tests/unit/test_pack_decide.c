/* The decisions of an import between its passes: which of two entries of one name is written, and
 * which entries of others would be evicted. */
#include "folder.h"

#include <jitwarm/cache.h>

#include "base/text.h"
#include "cache/entry.h"
#include "cache/index.h"
#include "cache/view.h"
#include "os/clock.h"
#include "os/platform.h"
#include "pack/import.h"
#include "packs.h"

#define OURS   "Apr  8 202512:10:18"
#define FORMER "Mar  5 202422:02:27"

enum { DAY_S = 24 * 60 * 60, OTHERS = 3 };

static char *cache, *target, *pack;

static void make_with(struct entries_entry *entry, const char *stamp, unsigned n, size_t padding)
{
	entries_make(entry, n, padding);
	memcpy(entry->bytes + CACHE_ENTRY_HEADER, stamp, strlen(stamp));
	entry->key = fnv_update(FNV_START, entry->bytes + CACHE_ENTRY_HEADER, (size_t)entry->key_bytes);
}

static void clear(const char *dir)
{
	if (os_exists(dir))
		OK(os_remove_tree(why, dir));
}

static int import_with(struct jw_error *err, struct jw_import_options options,
					   struct jw_import_result **ret_result)
{
	options.path = pack;
	options.cache_dir = target;
	options.allow_unsigned = true;
	return jw_import(err, &options, ret_result);
}

static void export_cache(void)
{
	const struct jw_export_options options = {
		.cache_dir = cache, .output = pack, .all_drivers = true};
	struct jw_export_result result = {0};

	OK(jw_export(why, &options, &result));
}

/* There are more kinds than groups: the remaining kinds of each verdict share one group, which
 * keeps its place. */
TEST(each_entry_of_many_kinds_is_counted)
{
	struct jw_system machine = packs_machine(folder);
	struct jw_import_result *result;
	struct entries_entry entry;
	size_t counted = 0;

	TEXT_COPY(machine.driver.stamp, OURS);
	machine.driver.version = (struct jw_driver){12040, {550, 163, 1}};
	clear(cache);
	clear(target);
	for (unsigned i = 0; i < 500; i++) {
		char stamp[32];
		const unsigned n = i / 2;
		uint8_t *at = entry.bytes + CACHE_ENTRY_HEADER;
		size_t value;

		(void)snprintf(stamp, sizeof stamp, "Jun 25 200101:%02u:%02u", n / 60, n % 60);
		entries_make_of(&entry, stamp, i, 0);
		if (i % 2) {
			memcpy(at + 19 + 6 + 3, "80", 2);
			value = (size_t)entry.key_bytes;
			entries_cubin(at + value, 80, false);
			cache_entry_header(entry.bytes, entry.key_bytes, ENTRIES_CUBIN,
							   fnv_update(FNV_START, at + value, ENTRIES_CUBIN));
			entry.key = fnv_update(FNV_START, at, value);
		}
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	make_with(&entry, OURS, 9999, 0);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	export_cache();
	OK(import_with(
		why,
		(struct jw_import_options){.system = &machine, .limit_bytes = 1 << 20, .dry_run = true},
		&result));
	for (size_t i = 0; i < result->group_count; i++)
		counted += result->groups[i].entries;
	assert_int_equal(counted, result->entries);
	jw_result_free(result);
}

/* The driver's own entry is written rather than one that is carried over to the same name,
 * whichever comes first in the pack. */
TEST(its_own_wins_over_one_that_is_carried)
{
	struct jw_system machine = packs_machine(folder);

	TEXT_COPY(machine.driver.stamp, OURS);
	machine.driver.version = (struct jw_driver){12040, {550, 163, 1}};
	for (unsigned i = 0; i < 8; i++) {
		struct entries_entry own, carried;
		struct jw_import_result *result;
		struct buf got = {0};
		char *path;

		clear(cache);
		clear(target);
		make_with(&own, OURS, 1, 8 + i);
		make_with(&carried, FORMER, 1, 80 - i);
		packs_put(cache, own.key, own.bytes, own.size);
		packs_put(cache, carried.key, carried.bytes, carried.size);
		export_cache();
		OK(import_with(why, (struct jw_import_options){.system = &machine, .limit_bytes = 1 << 20},
					   &result));
		assert_int_equal(result->accepted, 1);
		assert_int_equal(result->there, 1);
		assert_int_equal(result->added, 1);
		assert_int_equal(result->group_count, 2);
		jw_result_free(result);
		path = keep(cache_entry_path(target, own.key));
		OK(os_read_file(why, path, 1 << 20, &got));
		assert_int_equal(got.size, own.size);
		assert_memory_equal(got.data, own.bytes, own.size);
		buf_free(&got);
	}
}

/* The existing entry has the same size and a different checksum. */
TEST(another_entry_of_its_name_is_replaced)
{
	enum { CHECKSUM = 20 };
	struct jw_import_result *result;
	struct entries_entry entry;

	clear(cache);
	clear(target);
	entries_make(&entry, 1, 0);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	export_cache();
	entry.bytes[CHECKSUM] ^= 1;
	packs_put(target, entry.key, entry.bytes, entry.size);
	OK(import_with(why, (struct jw_import_options){.limit_bytes = 1 << 20}, &result));
	assert_int_equal(result->there, 0);
	assert_int_equal(result->accepted, 1);
	jw_result_free(result);
}

/* ---- entries of others */

static uint64_t sizes[OTHERS];

static void put_others(const uint64_t *order)
{
	clear(target);
	for (unsigned i = 0; i < OTHERS; i++) {
		struct entries_entry entry;
		char *path;

		entries_make(&entry, 100 + i, 7 + 13 * i);
		sizes[i] = entry.row_bytes;
		packs_put(target, entry.key, entry.bytes, entry.size);
		path = keep(cache_entry_path(target, entry.key));
		check_set_mtime(path, (os_now_s() - (int64_t)order[i] * DAY_S) * INT64_C(1000000000));
	}
}

static void assert_evicts(uint64_t limit_bytes, size_t evicted, uint64_t bytes)
{
	struct jw_import_options options = {.limit_bytes = limit_bytes, .dry_run = true};
	struct jw_import_result *result;

	OK(import_with(why, options, &result));
	assert_int_equal(result->evicted, evicted);
	assert_int_equal(result->evicted_bytes, bytes);
	jw_result_free(result);
	options.dry_run = false;
	if (!evicted)
		return;
	GIVES(JW_ERR_LIMIT, import_with(why, options, &result));
	assert_non_null(strstr(why->message, "would be evicted"));
}

/* The oldest would be evicted first, and no more than necessary; entries that cannot be counted,
 * and those written again, do not count. */
TEST(the_oldest_of_others_would_go)
{
	static const uint64_t ages[] = {2, 3, 1};
	struct entries_entry entry, torn;
	uint64_t accepted = 0, all = 0;

	clear(cache);
	for (unsigned n = 0; n < 2; n++) {
		entries_make(&entry, n, n);
		packs_put(cache, entry.key, entry.bytes, entry.size);
		accepted += entry.row_bytes;
	}
	export_cache();
	put_others(ages);
	for (unsigned i = 0; i < OTHERS; i++)
		all += sizes[i];
	for (int there = 0; there < 2; there++) {
		assert_evicts(all + accepted, 0, 0);
		assert_evicts(all + accepted - 1, 1, sizes[1]);
		assert_evicts(all + accepted - sizes[1], 1, sizes[1]);
		assert_evicts(all + accepted - sizes[1] - 1, 2, sizes[1] + sizes[0]);
		assert_evicts(accepted, 3, all);
		/* one entry of the pack, and one that is torn */
		packs_put(target, entry.key, entry.bytes, entry.size);
		entries_make(&torn, 200, 0);
		packs_put(target, torn.key, torn.bytes, CACHE_ENTRY_HEADER);
	}
}

/* A driver's index, not the files' times, says which entry is the oldest. */
TEST(the_index_says_which_is_the_oldest)
{
	const struct jw_cache_options look = {.path = target};
	struct jw_cache_listing *list;
	struct jw_import_result *result;
	struct entries_entry entry;
	uint64_t rows[OTHERS] = {0}, all = 0;

	clear(cache);
	clear(target);
	for (unsigned i = 0; i < OTHERS; i++) {
		entries_make(&entry, 100 + i, 7 + 13 * i);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	export_cache();
	OK(import_with(why, (struct jw_import_options){.limit_bytes = 1 << 20}, &result));
	jw_result_free(result);
	OK(jw_cache_list(why, &look, &list));
	assert_int_equal(list->count, OTHERS);
	for (unsigned i = 0; i < OTHERS; i++) {
		char *path = keep(cache_entry_path(target, list->entries[i].key));

		rows[i] = list->entries[i].file_bytes - CACHE_ENTRY_HEADER;
		all += rows[i];
		check_set_mtime(path, (os_now_s() - (int64_t)i * DAY_S) * INT64_C(1000000000));
	}
	jw_result_free(list);
	clear(cache);
	entries_make(&entry, 1, 1);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	export_cache();
	assert_evicts(all + entry.row_bytes, 0, 0);
	assert_evicts(all + entry.row_bytes - 1, 1, rows[0]);
	assert_evicts(all + entry.row_bytes - rows[0] - 1, 2, rows[0] + rows[1]);
}

/* ---- ends */

static bool is_cancelled(void *context)
{
	size_t *left = context;

	return !*left || !--*left;
}

static size_t count_entries(const char *dir)
{
	struct cache_files files = {0};
	size_t count = cache_files_scan(NULL, dir, /* headers= */ true, NULL, &files) ? 0 : files.count;

	cache_files_free(&files);
	return count;
}

/* The entries are written some at a time; a cancel ends the import between these. */
TEST(many_are_written)
{
	enum { MANY = 200 };
	struct jw_import_result *result;
	size_t calls = 0, amid = 0;

	clear(cache);
	clear(target);
	for (unsigned n = 0; n < MANY; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 0);
		packs_put(cache, entry.key, entry.bytes, entry.size);
	}
	export_cache();
	for (calls = 1;; calls++) {
		size_t left = calls;

		*why = (struct jw_error){0};
		if (!import_with(
				why,
				(struct jw_import_options){.limit_bytes = 1 << 20, .cancel = {&left, is_cancelled}},
				&result))
			break;
		assert_int_equal(why->code, JW_ERR_INTERRUPTED);
		amid += count_entries(target) > 0;
		clear(target);
	}
	assert_true(amid >= MANY / 64);
	assert_int_equal(result->added, MANY);
	jw_result_free(result);
	/* the question comes once for each batch, too */
	assert_true(calls > MANY / 64);
	clear(target);
	OK(import_with(why, (struct jw_import_options){.limit_bytes = 1 << 20}, &result));
	assert_int_equal(result->added, MANY);
	jw_result_free(result);
}

/* The sizes and their sum need more than 32 bits. */
TEST(a_pack_of_more_than_the_driver_keeps_is_refused)
{
	enum { CUBINS = 5, KEY_BYTES = 100 };
	const uint64_t cubin_bytes = UINT64_C(1) << 30, whole = CUBINS * (cubin_bytes + KEY_BYTES);
	struct pack_driver driver = {.stamp = OURS};
	struct pack_member members[CUBINS + 1] = {{.kind = PACK_PTX, .size_bytes = 10}};
	struct pack_entry entries[CUBINS];
	char none[] = "";
	const struct {
		uint64_t limit_bytes;
		enum jw_code code;
	} cases[] = {{UINT64_C(1) << 32, JW_ERR_LIMIT}, {whole - 1, JW_ERR_LIMIT}, {whole, JW_OK}};

	clear(target);
	for (uint32_t i = 0; i < CUBINS; i++) {
		members[i + 1] = (struct pack_member){.kind = PACK_CUBIN, .size_bytes = cubin_bytes};
		entries[i] = (struct pack_entry){
			.key = i + 1, .cubin = i + 1, .target = {.sm = 86}, .options = none};
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct jw_import_options options = {0};
		struct import_fate fates[CUBINS] = {0};
		struct jw_import_result result = {.path = target};
		struct import import = {
			.options = &options,
			.result = &result,
			.manifest = {"linux", &driver, 1, members, CUBINS + 1, entries, CUBINS},
			.limit_bytes = cases[i].limit_bytes,
			.fates = fates};

		for (size_t at = 0; at < CUBINS; at++) {
			fates[at].key = at + 1;
			fates[at].key_bytes = KEY_BYTES;
		}
		GIVES(cases[i].code, import_decide(why, &import));
		assert_true(result.accepted_bytes == whole);
		assert_int_equal(result.accepted, CUBINS);
		set_free(&import.keys);
		mem_free(result.groups);
	}
}

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	cache = keep(os_join(folder, "cache"));
	target = keep(os_join(folder, "target"));
	pack = keep(os_join(folder, "a.jwpack"));
	return 0;
}

RUN_TESTS(set_up, remove_folder)
