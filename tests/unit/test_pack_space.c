/* If the disk lacks space for a pack's new entries, none of them is written. */
#include "folder.h"

#include <sys/vfs.h>

#include "packs.h"

enum { NEW = 3, SPARE_BYTES = 1 << 20, BLOCK_BYTES = 4096 };

static uint64_t free_bytes;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int statfs(const char *path, struct statfs *info)
{
	(void)path;
	*info = (struct statfs){.f_type = 0xef53, .f_bsize = 1, .f_bavail = free_bytes};
	return 0;
}

static uint64_t put_entries(const char *dir, unsigned first)
{
	struct entries_entry entry;

	for (unsigned i = 0; i < NEW; i++) {
		entries_make(&entry, first + i, 8);
		packs_put(dir, entry.key, entry.bytes, entry.size);
	}
	return NEW * entry.row_bytes;
}

static int import_into(struct jw_error *err, const char *target, uint64_t limit_bytes,
					   size_t *ret_added)
{
	char *pack = keep(os_join(folder, "a.jwpack"));
	const struct jw_import_options options = {
		.path = pack, .cache_dir = target, .allow_unsigned = true, .limit_bytes = limit_bytes};
	struct jw_import_result *result;
	const int failed = jw_import(err, &options, &result);

	if (!failed) {
		*ret_added = result->added;
		jw_result_free(result);
	}
	return failed;
}

TEST(a_pack_is_refused_where_the_disk_has_no_room_for_what_is_new)
{
	const uint64_t needed = NEW * BLOCK_BYTES + SPARE_BYTES;
	char *cache = keep(os_join(folder, "cache")), *target = keep(os_join(folder, "target")),
		 *pack = keep(os_join(folder, "a.jwpack"));
	size_t added = 0;

	(void)put_entries(cache, 0);
	(void)packs_export(cache, pack);
	free_bytes = needed - 1;
	GIVES(JW_ERR_IO, import_into(why, target, 1 << 20, &added));
	assert_non_null(strstr(why->message, "the new entries need"));
	assert_false(os_exists(target));
	free_bytes = needed;
	OK(import_into(why, target, 1 << 20, &added));
	assert_int_equal(added, NEW);
	/* An existing entry needs no space. */
	free_bytes = 0;
	OK(import_into(why, target, 1 << 20, &added));
	assert_int_equal(added, 0);
}

RUN_TESTS(make_folder, remove_folder)
