/* An entry is absent only if the system says so. */
#include "check.h"

#include <unistd.h>

#include "inserting.h"

TEST(what_cannot_be_looked_at_is_not_absent)
{
	const uint64_t loop = key_of(2), nowhere = key_of(3), missing = key_of(4);
	struct cache_probed probed = {0};
	struct cache_files scan;
	struct cache_index index;
	struct cache_live *live;
	char *path;

	start_anew();
	fill(1, 3);
	path = keep(cache_entry_path(dir, loop));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(path, path), 0); /* ELOOP */
	path = keep(cache_entry_path(dir, nowhere));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);

	assert_int_equal(cache_presence(dir, missing, 0, NULL), CACHE_ABSENT);
	assert_int_equal(cache_presence(dir, nowhere, 0, NULL), CACHE_ABSENT);
	assert_int_equal(cache_presence(dir, loop, 0, &probed), CACHE_UNUSABLE);
	assert_int_equal(probed.damage, CACHE_DAMAGE_READ);
	for (int closed = 0; closed < 2; closed++) {
		const struct cache_file *file;

		OK(cache_files_scan(why, dir, !closed, NULL, &scan));
		assert_int_equal(scan.count, 2);
		file = cache_files_find(&scan, loop);
		assert_non_null(file);
		assert_int_equal(file->probed.damage, CACHE_DAMAGE_READ);
		cache_files_free(&scan);
	}
	/* The row of the entry stays. */
	live = open_live(1 << 30, CACHE_FULL_REFUSE);
	OK(cache_repair(why, live));
	OK(cache_live_close(why, live));
	OK(cache_index_load(why, dir, &index));
	assert_true(row_of(&index, loop));
	assert_false(row_of(&index, nowhere));
	cache_index_free(&index);
}

RUN_TESTS(make_folder, remove_folder)
