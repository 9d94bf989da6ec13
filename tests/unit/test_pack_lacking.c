/* Packs are made, merged and filled from a cache while each allocation fails once: that is said, or
 * all of the work is done. */
#include "lacking_posix.h"

#include "small_modules.h"

#include <jitwarm/prune.h>

static void as_it_is(void)
{
}

static void with_all(void)
{
	without_target();
	put_entries(target, 0, ENTRIES);
}

/* One that is damaged, one of which no driver is known. */
static void with_odd_ones(void)
{
	struct entries_entry entry;

	with_all();
	entries_make(&entry, 7, 10);
	entry.bytes[entry.size - 1] ^= 1;
	packs_put(target, entry.key, entry.bytes, entry.size);
	entries_make(&entry, 8, 0);
	entry.bytes[CACHE_ENTRY_HEADER + 4] = '1';
	entry.key = fnv_update(FNV_START, entry.bytes + CACHE_ENTRY_HEADER, (size_t)entry.key_bytes);
	packs_put(target, entry.key, entry.bytes, entry.size);
}

static int prunes(struct jw_error *err)
{
	static const struct jw_target targets[] = {{.sm = 86}};
	const struct jw_prune_options options = {.size = sizeof options,
											 .cache_dir = target,
											 .system = &machine,
											 .targets = targets,
											 .target_count = 1,
											 .damaged = true,
											 .keep = merged,
											 .apply = true};
	struct jw_prune_result *result = NULL;

	if (jw_prune(err, &options, &result))
		return -1;
	assert_int_equal(result->removed + result->not_kept + result->changed,
					 result->chosen[JW_PRUNE_TARGET] + result->chosen[JW_PRUNE_DAMAGED]);
	jw_prune_result_free(result);
	return 0;
}

static int merges(struct jw_error *err)
{
	char *const paths[] = {pack, other_pack};
	struct written written;

	return merge_packs(err, paths, 2, merged, &written);
}

/* A library with one module, and a cache with its entry. */
static void put_named(void)
{
	static const char start[] = "Jun 25 202401:14:48HOST64sm_86";
	uint8_t bytes[1024] = {0}, *key = bytes + CACHE_ENTRY_HEADER, *cubin;
	char text[SMALL_TEXT], *dir = os_join(NULL, folder, "named");
	struct buf data = make_buf();
	size_t length = sizeof start - 1, text_size = strlen(small_text(text, 1, 80)) + 1;

	small_put(&data, 1, 80, "");
	small_fatbin_library("libnamed.so", &data);
	buf_free(&data);
	memcpy(key, start, length);
	memcpy(key + length, text, text_size);
	memcpy(key + length + text_size, "\0 ", 2);
	length += text_size + 2;
	cubin = key + length;
	entries_cubin(cubin, 86, false);
	cache_entry_header(bytes, length, ENTRIES_CUBIN, fnv_update(FNV_START, cubin, ENTRIES_CUBIN));
	packs_put(dir, fnv_update(FNV_START, key, length), bytes,
			  CACHE_ENTRY_HEADER + length + ENTRIES_CUBIN);
	mem_free(dir);
}

/* For want of memory the entry may be unreadable, which is said. */
static int exports_named(struct jw_error *err)
{
	static char dir[4096], path[4096];
	const char *const paths[] = {path};
	const struct jw_export_options options = {
		.cache_dir = dir, .paths = paths, .path_count = 1, .system = &machine};

	(void)snprintf(dir, sizeof dir, "%s/named", folder);
	(void)snprintf(path, sizeof path, "%s/libnamed.so", folder);
	return export_with(err, options, 1);
}

static void exports_say_so(void **unused)
{
	(void)unused;
	put_named();
	assert_int_equal(exports_named(NULL), 0);
	each_lacks("export of a named library's", as_it_is, exports_named);
	with_a_key();
	each_lacks("export, thin and signed", as_it_is, exports_thin);
	with_a_tree();
	each_lacks("export of a tree", as_it_is, exports_a_tree);
}

static void prunes_and_merges_say_so(void **unused)
{
	(void)unused;
	each_lacks("prune", with_odd_ones, prunes);
	assert_int_equal(exports(NULL), 0);
	without_target();
	put_entries(target, 2, ENTRIES + 2);
	assert_int_equal(export_with(NULL,
								 (struct jw_export_options){.cache_dir = target,
															.output = other_pack,
															.all_drivers = true},
								 ENTRIES),
					 0);
	each_lacks("merge", as_it_is, merges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exports_say_so),
		cmocka_unit_test(prunes_and_merges_say_so),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
