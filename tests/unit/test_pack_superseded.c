/* “store clear --superseded” removes a pack only if other packs keep all of its entries. */
#include "folder.h"

#include <jitwarm/key.h>
#include <jitwarm/store.h>

#include "pack/store_packs.h"
#include "packs.h"

enum { ENTRIES = 4 };

static struct entries_entry entries[ENTRIES];
static char *shared;

static int begin(void **state)
{
	struct jw_key key;

	if (make_folder(state))
		return -1;
	shared = keep(os_join(folder, "shared"));
	OK(os_make_dirs(why, shared, 0700));
	for (unsigned n = 0; n < ENTRIES; n++)
		entries_make(&entries[n], n, 100);
	OK(jw_key_generate(why, folder, "mine", &key));
	return 0;
}

/* Puts a pack with the entries `from` to `to` into the folder, signed with the key of that name;
 * NULL: not signed. */
static void put_pack(const char *name, size_t from, size_t to, const char *key)
{
	char *cache = keep(mem_printf("%s/cache-%s", folder, name));
	char *path = keep(mem_printf("%s/%s.jwpack", shared, name));
	const struct jw_export_options options = {
		.cache_dir = cache, .output = path, .sign_key = key, .state_dir = folder};
	struct jw_export_result result;

	for (size_t n = from; n < to; n++)
		packs_put(cache, entries[n].key, entries[n].bytes, entries[n].size);
	OK(jw_export(why, &options, &result));
	assert_int_equal(result.entries, to - from);
}

static bool has(const char *name)
{
	char *path = keep(os_join(shared, name));
	const bool is = os_exists(path);

	return is;
}

/* Removes superseded packs; so many go. */
static void clear_superseded(size_t wanted)
{
	const struct jw_store_options options = {.state_dir = folder, .folder = shared};
	struct jw_store_cleared cleared = {0};

	OK(jw_store_clear(why, &options, true, true, &cleared));
	assert_int_equal(cleared.removed, wanted);
	OK(jw_store_clear(why, &options, true, false, &cleared));
	assert_int_equal(cleared.removed, wanted);
}

TEST_WITH(only_contained_packs_go, begin, remove_folder)
{
	put_pack("a", 0, 1, "mine");
	put_pack("ab", 0, 2, "mine");
	put_pack("bc", 1, 3, "mine");
	put_pack("d", 3, 4, "mine");
	clear_superseded(1);
	assert_false(has("a.jwpack") || has("a.jwpack.minisig"));
	assert_true(has("ab.jwpack") && has("ab.jwpack.minisig") && has("bc.jwpack") &&
				has("d.jwpack"));
	/* Two packs together contain this one. */
	put_pack("b", 1, 2, "mine");
	put_pack("abc", 0, 3, "mine");
	clear_superseded(3);
	assert_true(has("abc.jwpack") && has("d.jwpack"));
	clear_superseded(0);
}

TEST_WITH(of_equal_packs_the_newest_stays, begin, remove_folder)
{
	put_pack("x", 0, 2, "mine");
	put_pack("y", 0, 2, "mine");
	put_pack("z", 0, 2, "mine");
	for (int i = 0; i < 3; i++) {
		char *path = keep(mem_printf("%s/%c.jwpack", shared, "yzx"[i]));

		check_set_mtime(path, (1700000000 + i) * INT64_C(1000000000));
	}
	clear_superseded(2);
	assert_true(has("x.jwpack") && !has("y.jwpack") && !has("z.jwpack"));
}

/* Whoever can write to the folder cannot have signed packs removed by others that claim anything.
 */
TEST_WITH(an_unsigned_pack_supersedes_no_signed_one, begin, remove_folder)
{
	struct jw_key theirs;

	put_pack("signed", 0, 1, "mine");
	put_pack("unsigned", 0, 2, NULL);
	OK(jw_key_generate(why, folder, "theirs", &theirs));
	OK(jw_key_distrust(why, folder, "theirs"));
	put_pack("untrusted", 0, 3, "theirs");
	clear_superseded(1);
	assert_true(has("signed.jwpack") && has("untrusted.jwpack") && !has("unsigned.jwpack"));
}

/* A torn pack neither goes nor lets another one go. */
TEST_WITH(a_torn_pack_counts_for_nothing, begin, remove_folder)
{
	struct buf bytes = {0};
	char *path;

	put_pack("small", 0, 1, NULL);
	put_pack("large", 0, 2, NULL);
	path = keep(os_join(shared, "large.jwpack"));
	OK(os_read_file(why, path, 1 << 20, &bytes));
	files_put(shared, "large.jwpack", bytes.data, bytes.size - 1);
	clear_superseded(0);
	files_put(shared, "large.jwpack", bytes.data, bytes.size);
	clear_superseded(1);
	buf_free(&bytes);
}

/* A folder that was named must exist, whereas an account may have no store yet. */
TEST_WITH(a_named_folder_must_exist, begin, remove_folder)
{
	struct jw_store_options options = {.state_dir = folder, .folder = "/nonexistent/folder"};
	struct jw_store *opened;

	GIVES(JW_ERR_NOT_FOUND, jw_store_open(why, &options, &opened));
	options.folder = NULL;
	OK(jw_store_open(why, &options, &opened));
	assert_int_equal(opened->count, 0);
	jw_result_free(opened);
}

RUN_TESTS(NULL, NULL)
