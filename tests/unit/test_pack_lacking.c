/* Packs are made, merged and filled from a cache while each allocation fails once: that is said, or
 * all of the work is done. */
#include "explaining.h"
/* Behind it: it has parameters of its names */
#include "lacking_posix.h"

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
	assert_int_equal(os_remove(NULL, merged), 0);
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
	char *dir = os_join(NULL, folder, "named");
	struct buf data = make_buf();

	small_put(&data, 1, 70, "");
	small_fatbin_library("libnamed.so", &data);
	buf_free(&data);
	put_entry(dir, 1, machine.driver.stamp, 86, "", 0);
	mem_free(dir);
}

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

static int exports_signed(struct jw_error *err)
{
	const struct jw_export_options options = {
		.all_drivers = true, .sign_key = "ours", .signature = merged};

	return export_with(err, options, ENTRIES);
}

static void exports_say_so(void **unused)
{
	(void)unused;
	put_named();
	assert_int_equal(exports_named(NULL), 0);
	each_lacks("export of a named library's", as_it_is, exports_named);
	with_a_key();
	each_lacks("export, signed", as_it_is, exports_signed);
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
