/* How a cache lost its entries, from what its folders were and are. */
#include "check.h"

#include "base/mem.h"
#include "cache/shape.h"
#include "folder.h"
#include "os/file.h"

static struct cache_shape shape_of(uint64_t place, uint64_t index, uint64_t witness, uint64_t part)
{
	struct cache_shape shape = {place, index, witness, {0}};

	shape.parts[3] = part;
	shape.parts[9] = part ? part + 1 : 0;
	return shape;
}

static void a_loss_is_told_from_the_folders(void **state)
{
	const uint64_t unknown = OS_UNIDENTIFIED;
	const struct {
		const char *what;
		struct cache_shape before, now;
		enum cache_loss loss;
	} cases[] = {
		{"never seen", shape_of(0, 0, 0, 0), shape_of(1, 2, 3, 4), CACHE_LOSS_NONE},
		{"never seen, now without identities", shape_of(0, 0, 0, 0), shape_of(unknown, 2, 3, 4),
		 CACHE_LOSS_NONE},
		{"no identities", shape_of(unknown, 2, 3, 4), shape_of(1, 2, 3, 4), CACHE_LOSS_UNKNOWN},
		{"no identities now", shape_of(1, 2, 3, 4), shape_of(unknown, 2, 3, 4), CACHE_LOSS_UNKNOWN},
		{"another folder", shape_of(1, 2, 3, 4), shape_of(9, 2, 3, 4), CACHE_LOSS_REPLACED},
		{"the folder is gone", shape_of(1, 2, 3, 4), shape_of(0, 0, 0, 0), CACHE_LOSS_REPLACED},
		{"evictions", shape_of(1, 2, 3, 4), shape_of(1, 2, 3, 4), CACHE_LOSS_NONE},
		{"a new index beside old parts", shape_of(1, 2, 3, 4), shape_of(1, 8, 3, 4),
		 CACHE_LOSS_NONE},
		{"no parts before", shape_of(1, 2, 3, 0), shape_of(1, 8, 3, 4), CACHE_LOSS_NONE},
		{"a wipe by an insert", shape_of(1, 2, 3, 4), shape_of(1, 2, 3, 7), CACHE_LOSS_INDEX},
		{"an index without identity", shape_of(1, unknown, 3, 4), shape_of(1, unknown, 3, 7),
		 CACHE_LOSS_UNSURE},
		{"no index at either time", shape_of(1, 0, 3, 4), shape_of(1, 0, 3, 7), CACHE_LOSS_UNSURE},
		{"no witness", shape_of(1, 2, 0, 4), shape_of(1, 8, 0, 7), CACHE_LOSS_UNSURE},
		{"a witness without identity", shape_of(1, 2, unknown, 4), shape_of(1, 8, unknown, 7),
		 CACHE_LOSS_UNSURE},
		{"emptied by hand", shape_of(1, 2, 3, 4), shape_of(1, 8, 0, 7), CACHE_LOSS_EMPTIED},
		{"a wipe by a look-up", shape_of(1, 2, 3, 4), shape_of(1, 8, 3, 7), CACHE_LOSS_WIPED},
		{"an insert without an index", shape_of(1, 0, 3, 4), shape_of(1, 8, 3, 7),
		 CACHE_LOSS_INDEX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const enum cache_loss loss = cache_shape_compare(&cases[i].before, &cases[i].now);

		if (loss != cases[i].loss)
			fail_msg("%s: %d, not %d", cases[i].what, (int)loss, (int)cases[i].loss);
	}
}

/* Other accounts that write to the cache make it anew where it is gone. */
static void a_witness_has_the_rights_of_its_cache(void **state)
{
	static const struct {
		const char *name;
		uint32_t shared, mode;
	} cases[] = {{"own", 0, 0700}, {"group", 070, 0770}, {"all", 077, 0777}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = os_join(NULL, folder, cases[i].name);
		char *path = os_join(NULL, dir, CACHE_WITNESS);
		struct os_stat stat;

		cache_shape_leave_witness(dir, cases[i].shared);
		assert_false(os_exists(path));
		assert_int_equal(os_make_dirs(NULL, dir, 0700), 0);
		cache_shape_leave_witness(dir, cases[i].shared);
		assert_int_equal(os_stat(NULL, path, &stat), 0);
		assert_int_equal(stat.kind, OS_DIRECTORY);
		if (os_list_separator == ':') /* elsewhere, lists have the rights */
			assert_int_equal(stat.mode & 0777, cases[i].mode);
		mem_free(dir);
		mem_free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loss_is_told_from_the_folders),
		cmocka_unit_test(a_witness_has_the_rights_of_its_cache),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
