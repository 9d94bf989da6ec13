/* Which packs of a store become one, and what stays where that fails. */
#include "folder.h"

#include <jitwarm/store.h>

#include "base/text.h"
#include "open_files.h"
#include "packs.h"
#include "store/store_packs.h"

enum { PACKS = 5 };

static struct jw_gpu gpu = {.name = "GPU", .target = {.sm = 86}};
static struct jw_system system_of;
static char *place;
static struct jw_store *listed;
static size_t merged, made;

static struct jw_store *list(void)
{
	const struct jw_store_options options = {
		.size = sizeof options, .state_dir = folder, .verify = true};
	struct jw_store *store;

	assert_int_equal(jw_store_open(NULL, &options, &store), 0);
	return store;
}

/* Five packs of an entry each, the first a second older than the second, and so on. */
static int begin(void **state)
{
	if (make_folder(state))
		return -1;
	system_of = (struct jw_system){.gpus = &gpu, .gpu_count = 1, .state_dir = folder};
	system_of.cache.path = os_join(NULL, folder, "cache");
	system_of.cache.limit_bytes = UINT64_C(1) << 30;
	TEXT_COPY(system_of.driver.stamp, "Jun 25 202401:14:48");
	system_of.driver.version = (struct jw_driver){12050, {555, 58, 2}};
	system_of.driver.trust = JW_TRUST_CONFIRMED;
	place = os_join(NULL, folder, "store");
	for (unsigned n = 0; n < PACKS; n++) {
		struct entries_entry entry;

		entries_make(&entry, n, 10);
		packs_put(system_of.cache.path, entry.key, entry.bytes, entry.size);
		packs_keep(&system_of, 1);
	}
	listed = list();
	for (size_t i = 0; i < PACKS; i++) {
		char *path = os_join(NULL, place, listed->packs[i].name);
		struct os_file *file;

		assert_int_equal(os_file_open(NULL, path, OS_OPEN_UPDATE, &file), 0);
		assert_int_equal(
			os_file_set_mtime(NULL, file, (INT64_C(1700000000) + (int64_t)i) * 1000000000), 0);
		os_file_close(file);
		mem_free(path);
	}
	jw_store_free(listed);
	listed = list();
	assert_int_equal(listed->count, PACKS);
	merged = made = 0;
	return 0;
}

static int end(void **state)
{
	jw_store_free(listed);
	mem_free(system_of.cache.path);
	mem_free(place);
	return remove_folder(state);
}

/* The store then: so many packs, all of the entries, and nothing unfinished. */
static void assert_left(size_t packs)
{
	char *unfinished = os_join(NULL, place, STORE_UNFINISHED);
	struct jw_store *store = list();
	size_t entries = 0;

	assert_int_equal(store->count, packs);
	for (size_t i = 0; i < store->count; i++) {
		assert_string_equal(store->packs[i].damage, "");
		entries += store->packs[i].entries;
	}
	assert_int_equal(entries, PACKS);
	assert_false(os_exists(unfinished));
	jw_store_free(store);
	mem_free(unfinished);
}

static void merge(size_t least, size_t wanted_merged, size_t wanted_made)
{
	const size_t before = open_files();
	struct jw_error err = {0};

	if (store_merge(&err, listed, least, &merged, &made))
		fail_msg("%s", err.message);
	assert_int_equal(err.code, JW_OK);
	assert_int_equal(open_files(), before);
	assert_int_equal(merged, wanted_merged);
	assert_int_equal(made, wanted_made);
	assert_left(PACKS - wanted_merged + wanted_made);
}

/* The one that is made has the date of the newest. */
static void all_become_one(void **state)
{
	struct jw_store *store;

	(void)state;
	merge(PACKS + 1, 0, 0);
	merge(PACKS, PACKS, 1);
	store = list();
	assert_int_equal(store->packs[0].mtime_ns, (INT64_C(1700000000) + PACKS - 1) * 1000000000);
	assert_true(text_starts(store->packs[0].name, "sm_86-"));
	assert_true(text_ends(store->packs[0].name, STORE_EXTENSION));
	jw_store_free(store);
}

/* One that is damaged, for another GPU or driver, or too large is left out. */
static void what_does_not_match_stays(void **state)
{
	struct jw_store_pack *odd = &listed->packs[1];

	switch (*(const int *)*state) {
	case 0: TEXT_COPY(odd->damage, "x"); break;
	case 1: TEXT_COPY(odd->targets, "sm_89"); break;
	case 2: TEXT_COPY(odd->drivers, "another"); break;
	default: odd->content_bytes = (UINT64_C(256) << 20) + 1;
	}
	merge(2, PACKS - 1, 1);
}

/* Two kinds become two. */
static void each_kind_becomes_one(void **state)
{
	(void)state;
	TEXT_COPY(listed->packs[1].drivers, "another");
	TEXT_COPY(listed->packs[3].drivers, "another");
	merge(2, PACKS, 2);
}

/* Of the largest small ones four fill a merged one. */
static void a_merged_one_has_its_limit(void **state)
{
	const bool more = *(const int *)*state;

	for (size_t i = 0; i < PACKS; i++)
		listed->packs[i].content_bytes = UINT64_C(256) << 20;
	if (!more) {
		merge(2, 4, 1);
		return;
	}
	/* Beside three of them there is room for a byte less. */
	for (size_t i = 0; i < 2; i++)
		listed->packs[i].content_bytes -= 1;
	listed->packs[4].content_bytes = 3;
	merge(5, 0, 0);
	listed->packs[4].content_bytes = 2;
	merge(5, PACKS, 1);
}

static char *path_of(size_t i)
{
	return os_join(NULL, place, listed->packs[i].name);
}

/* Damaged since they were listed, all stay; that is no failure. */
static void a_damaged_one_stops_the_merge(void **state)
{
	struct jw_error err = {0};
	struct jw_store *store;
	char *path = path_of(2);

	(void)state;
	assert_int_equal(os_write_atomic(NULL, path, "no pack", 7), 0);
	assert_int_equal(store_merge(&err, listed, 2, &merged, &made), 0);
	assert_int_equal(err.code, JW_OK);
	assert_int_equal(merged + made, 0);
	store = list();
	assert_int_equal(store->count, PACKS);
	jw_store_free(store);
	mem_free(path);
}

/* One with something that this jitwarm does not know. */
static void an_unknown_one_stops_the_merge(void **state)
{
	struct jw_error err = {0};
	struct jw_store *store;
	struct buf bytes;
	char *path = path_of(2);

	(void)state;
	packs_make(&bytes, "{\"format\":\"jitwarm.pack/1\",\"requires\":[\"wings\"]}", NULL, 0);
	assert_int_equal(os_write_atomic(NULL, path, bytes.data, bytes.size), 0);
	assert_int_equal(store_merge(&err, listed, 2, &merged, &made), 0);
	assert_int_equal(err.code, JW_OK);
	assert_int_equal(merged + made, 0);
	store = list();
	assert_int_equal(store->count, PACKS);
	jw_store_free(store);
	buf_free(&bytes);
	mem_free(path);
}

/* Another failure is one: nothing is removed. */
static void a_missing_one_is_an_error(void **state)
{
	char *unfinished = os_join(NULL, place, STORE_UNFINISHED), *path = path_of(2);
	struct jw_error err = {0};
	struct jw_store *store;

	(void)state;
	assert_int_equal(os_remove(NULL, path), 0);
	assert_int_equal(store_merge(&err, listed, 2, &merged, &made), -1);
	assert_int_equal(err.code, JW_ERR_NOT_FOUND);
	assert_int_equal(merged + made, 0);
	store = list();
	assert_int_equal(store->count, PACKS - 1);
	assert_false(os_exists(unfinished));
	jw_store_free(store);
	mem_free(path);
	mem_free(unfinished);
}

/* Made of what it says already, the merged one has the first one's name and takes its place. */
static void the_same_pack_again_leaves_one(void **state)
{
	struct buf bytes = {0};
	struct jw_store *store;
	char *path;

	(void)state;
	merge(2, PACKS, 1);
	jw_store_free(listed);
	listed = list();
	path = path_of(0);
	assert_int_equal(os_read_file(NULL, path, 1 << 20, &bytes), 0);
	files_put(place, "sm_86-again.jwpack", bytes.data, bytes.size);
	jw_store_free(listed);
	listed = list();
	assert_int_equal(listed->count, 2);
	merged = made = 0;
	assert_int_equal(store_merge(NULL, listed, 2, &merged, &made), 0);
	assert_int_equal(merged, 1);
	assert_int_equal(made, 1);
	assert_left(1);
	store = list();
	assert_string_equal(os_base_name(path), store->packs[0].name);
	jw_store_free(store);
	buf_free(&bytes);
	mem_free(path);
}

/* A folder where the merged one belongs: the old ones stay, and nothing unfinished. */
static void one_that_gets_no_name_is_none(void **state)
{
	struct buf packs[PACKS] = {0};
	struct jw_error err = {0};
	struct jw_store *store;
	char *path, *inside;

	(void)state;
	for (size_t i = 0; i < PACKS; i++) {
		path = path_of(i);
		assert_int_equal(os_read_file(NULL, path, 1 << 20, &packs[i]), 0);
		mem_free(path);
	}
	merge(2, PACKS, 1);
	store = list();
	path = os_join(NULL, place, store->packs[0].name);
	inside = os_join(NULL, path, "file");
	jw_store_free(store);
	assert_int_equal(os_remove(NULL, path), 0);
	files_put_at(inside, "x", 1);
	for (size_t i = 0; i < PACKS; i++) {
		files_put(place, listed->packs[i].name, packs[i].data, packs[i].size);
		buf_free(&packs[i]);
	}
	merged = made = 0;
	assert_int_equal(store_merge(&err, listed, 2, &merged, &made), -1);
	assert_true(err.code != JW_OK);
	assert_int_equal(merged + made, 0);
	assert_left(PACKS);
	mem_free(path);
}

static int begin_with(void **state)
{
	void *given = *state;
	int result = begin(state);

	*state = given;
	return result;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)
#define WITH(test, which)                                                                          \
	cmocka_unit_test_prestate_setup_teardown(test, begin_with, end, &(int){which})

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(all_become_one),
		WITH(what_does_not_match_stays, 0),
		WITH(what_does_not_match_stays, 1),
		WITH(what_does_not_match_stays, 2),
		WITH(what_does_not_match_stays, 3),
		CASE(each_kind_becomes_one),
		WITH(a_merged_one_has_its_limit, 0),
		WITH(a_merged_one_has_its_limit, 1),
		CASE(a_damaged_one_stops_the_merge),
		CASE(an_unknown_one_stops_the_merge),
		CASE(a_missing_one_is_an_error),
		CASE(the_same_pack_again_leaves_one),
		CASE(one_that_gets_no_name_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
