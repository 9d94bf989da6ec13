/* A pack has every sound entry of the cache and no other, and a failed export leaves no file. */
#include "folder.h"

#include "base/text.h"
#include "entries.h"
#include "os/identity.h"
#include "os/platform.h"
#include "packs.h"

static char *path_in(const char *name)
{
	return os_join(folder, name);
}

/* Makes three entries: two of one module and cubin by different drivers, and one more. */
static void make_cache(const char *dir)
{
	struct entries_entry entry;

	for (unsigned n = 0; n < 2; n++) {
		entries_make(&entry, n, 100 * n);
		packs_put(dir, entry.key, entry.bytes, entry.size);
	}
	/* A stamp of another day is another driver's. */
	entries_make(&entry, 0, 0);
	entry.bytes[CACHE_ENTRY_HEADER + 4] = '1';
	entry.key = fnv_update(FNV_START, entry.bytes + CACHE_ENTRY_HEADER, (size_t)entry.key_bytes);
	packs_put(dir, entry.key, entry.bytes, entry.size);
}

static struct jw_import_result *import_as_is(const char *file, const char *dir)
{
	const struct jw_import_options options = {
		.path = file, .allow_unsigned = true, .cache_dir = dir};
	struct jw_import_result *result;

	OK(jw_import(why, &options, &result));
	return result;
}

static bool is_cancelled(void *context)
{
	return !(*(unsigned *)context)--;
}

TEST(what_fails_leaves_nothing)
{
	char *above = keep(path_in("failing")), *cache = keep(path_in("failing/cache")),
		 *file = keep(path_in("failing/a.jwpack"));
	unsigned left = 0;
	const struct jw_export_options options = {
		.cache_dir = cache, .output = file, .cancel = {&left, is_cancelled}};
	struct jw_export_result result = {0};
	struct os_names names;

	make_cache(cache);
	for (unsigned i = 0; left = i, jw_export(NULL, &options, &result); i++) {
		OK(os_list(why, above, &names));
		assert_int_equal(names.count, 1);
		os_names_free(&names);
	}
	assert_true(os_exists(file));
}

/* Empties the cache as soon as the pack's file is there. */
static bool lose_entries(void *context)
{
	struct os_names names;

	char *above = keep(path_in("losing"));

	OK(os_list(why, above, &names));
	if (names.count > 1)
		(void)os_remove_tree(NULL, context);
	os_names_free(&names);
	return false;
}

TEST(an_entry_that_leaves_is_no_empty_cache)
{
	char *cache = keep(path_in("losing/cache")), *file = keep(path_in("losing/a.jwpack"));
	const struct jw_export_options options = {
		.cache_dir = cache, .output = file, .cancel = {cache, lose_entries}};
	struct jw_export_result result = {0};

	make_cache(cache);
	GIVES(JW_ERR_BUSY, jw_export(why, &options, &result));
}

/* The meaning of the entry's name and key is unknown. */
TEST(entries_of_an_unknown_form_are_not_packed)
{
	const struct jw_system unknown = {.driver.trust = JW_TRUST_OPAQUE};
	char *cache = keep(path_in("unknown")), *file = keep(path_in("unknown.jwpack"));
	struct jw_export_result result = {0};

	make_cache(cache);
	GIVES(JW_ERR_UNSUPPORTED, jw_export(why,
										&(struct jw_export_options){
											.system = &unknown, .cache_dir = cache, .output = file},
										&result));
	assert_false(os_exists(file));
}

/* Another driver compiled the same module to something else. */
TEST(modules_and_cubins_are_counted_apart)
{
	char *cache = keep(path_in("apart")), *file = keep(path_in("apart.jwpack"));
	struct jw_export_result result;
	struct entries_entry entry;

	make_cache(cache);
	entries_make(&entry, 0, 8);
	entry.bytes[CACHE_ENTRY_HEADER + 4] = '0';
	entry.key = fnv_update(FNV_START, entry.bytes + CACHE_ENTRY_HEADER, (size_t)entry.key_bytes);
	packs_put(cache, entry.key, entry.bytes, entry.size);
	result = packs_export(cache, file);
	assert_int_equal(result.entries, 4);
	assert_int_equal(result.modules, 2);
	assert_int_equal(result.cubins, 3);
}

static void put_with_options(const char *dir, size_t length)
{
	static uint8_t bytes[2 * PACK_MAX_OPTIONS];
	struct entries_entry entry;
	size_t key_bytes, value;

	entries_make(&entry, 3, 0);
	key_bytes = (size_t)entry.key_bytes + length;
	value = CACHE_ENTRY_HEADER + key_bytes;
	memcpy(bytes, entry.bytes, CACHE_ENTRY_HEADER + (size_t)entry.key_bytes);
	memset(bytes + CACHE_ENTRY_HEADER + entry.key_bytes, 'x', length);
	entries_cubin(bytes + value, 86, false);
	cache_entry_header(bytes, key_bytes, ENTRIES_CUBIN,
					   fnv_update(FNV_START, bytes + value, ENTRIES_CUBIN));
	packs_put(dir, fnv_update(FNV_START, bytes + CACHE_ENTRY_HEADER, key_bytes), bytes,
			  value + ENTRIES_CUBIN);
}

/* The options are as long as they may be, and one byte longer. */
TEST(long_options_are_packed_and_longer_ones_left_out)
{
	char *cache = keep(path_in("long")), *file = keep(path_in("long.jwpack")),
		 *copy = keep(path_in("long-copy"));
	struct jw_export_result result;
	struct jw_import_result *imported;

	put_with_options(cache, PACK_MAX_OPTIONS);
	put_with_options(cache, PACK_MAX_OPTIONS + 1);
	result = packs_export(cache, file);
	assert_int_equal(result.entries, 1);
	assert_int_equal(result.unsuited, 1);
	imported = import_as_is(file, copy);
	assert_int_equal(imported->accepted, 1);
	jw_result_free(imported);
}

/* Imports a pack of three entries into `copy`, which must stay missing. */
static int import_nothing(struct jw_error *err, struct jw_import_options options,
						  struct jw_import_result **ret_result)
{
	char *cache = keep(path_in("cache-left")), *file = keep(path_in("left.jwpack")),
		 *copy = keep(path_in("left"));
	int result;

	make_cache(cache);
	(void)packs_export(cache, file);
	options.path = file;
	options.allow_unsigned = true;
	options.cache_dir = copy;
	result = jw_import(err, &options, ret_result);
	assert_false(os_exists(copy));
	return result;
}

TEST(respects_the_limit)
{
	struct jw_import_options exactly = {.dry_run = true};
	struct jw_import_result *result;
	struct entries_entry entry;

	for (unsigned n = 0; n < 2; n++) {
		entries_make(&entry, n, 100 * n);
		exactly.limit_bytes += (n ? 1 : 2) * entry.row_bytes;
	}
	OK(import_nothing(why, exactly, &result));
	jw_result_free(result);
	exactly.limit_bytes--;
	GIVES(JW_ERR_LIMIT, import_nothing(why, exactly, &result));
	GIVES(JW_ERR_LIMIT,
		  import_nothing(why, (struct jw_import_options){.limit_bytes = 200}, &result));
}

TEST(dry_run_writes_nothing)
{
	struct jw_import_result *result;

	OK(import_nothing(why, (struct jw_import_options){.dry_run = true}, &result));
	assert_int_equal(result->accepted, 3);
	assert_int_equal(result->added, 0);
	jw_result_free(result);
}

/* Asserts who may read: everybody, if root named the folder; only its owner, if it is the driver's
 * own. */
static void assert_created(const char *path, bool by_name)
{
	struct os_stat stat;

	if (!os_is_superuser() || os_is_windows)
		return;
	OK(os_stat(why, path, &stat));
	assert_int_equal(stat.mode & 0777, by_name ? 0755 : 0700);
}

TEST(needs_a_driver_or_a_directory)
{
	char *cache = keep(path_in("hers")), *file = keep(path_in("h.jwpack")),
		 *named = keep(path_in("named"));
	struct jw_system system = {.cache = {.path = path_in("ours"), .limit_bytes = 1 << 20}};
	struct jw_import_options options = {.path = file, .allow_unsigned = true, .system = &system};
	struct jw_import_result *result;

	make_cache(cache);
	(void)packs_export(cache, file);
	GIVES(JW_ERR_UNSUPPORTED, jw_import(why, &options, &result));
	assert_non_null(strstr(why->message, "no NVIDIA driver is installed here"));
	TEXT_COPY(system.driver.library, "libcuda.so.1");
	assert_int_equal(jw_import(why, &options, &result), -1);
	assert_non_null(
		strstr(why->message, "libcuda.so.1: the names of this driver's entries are not known"));
	assert_false(os_exists(system.cache.path));
	/* the directory of another machine */
	options.cache_dir = named;
	OK(jw_import(why, &options, &result));
	assert_true(result->as_is);
	assert_int_equal(result->added, 3);
	assert_created(named, true);
	jw_result_free(result);
	/* this machine's directory */
	options.cache_dir = NULL;
	TEXT_COPY(system.driver.stamp, "Jun 25 202401:14:48");
	system.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	system.driver.trust = JW_TRUST_CONFIRMED;
	OK(jw_import(why, &options, &result));
	assert_int_equal(result->added, 2);
	assert_created(system.cache.path, false);
	jw_result_free(result);
	mem_free(system.cache.path);
}

RUN_TESTS(make_folder, remove_folder)
