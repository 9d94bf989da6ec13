/* A key gives the name of its entry's file, and is split and joined without loss, on bytes made
 * here and on real caches. */
#include "cache/profile.h"
#include "caches.h"

#include <stdio.h>

#include "base/hash.h"
#include "cache/entry.h"
#include "cache/key.h"

static struct cache_profile profile_of(const char *stamp)
{
	struct cache_profile profile = {0};

	(void)snprintf(profile.stamp, sizeof profile.stamp, "%s", stamp);
	return profile;
}

/* Hashes computed independently of this project (FNV-1a in Python over the spelled-out key). */
TEST(keys_equal_the_bytes_that_the_driver_hashes)
{
	static const struct {
		uint16_t sm;
		enum cache_key_form form;
		const char *options;
		uint64_t hash, length;
	} cases[] = {
		{86, CACHE_KEY_LOAD, "-v", UINT64_C(0x77e98235d265839c), 48},
		{86, CACHE_KEY_LINK, "-v", UINT64_C(0xa089b3f960723484), 50},
		{86, CACHE_KEY_TEXT, "", UINT64_C(0x8b83795e28737ff9), 45},
		{120, CACHE_KEY_TEXT, "", UINT64_C(0x9d56f3612514def0), 46},
	};
	struct cache_profile profile = profile_of("Jun 25 202401:14:48");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t length;

		assert_int_equal(cache_key_hash(profile.stamp,
										&(struct cache_key_input){
											cases[i].sm, cases[i].form, ".version 7.0\n", 14,
											cases[i].options, strlen(cases[i].options), false},
										&length),
						 cases[i].hash);
		assert_int_equal(length, cases[i].length);
	}
}

TEST(options_end_at_their_first_nul)
{
	char tail[CACHE_KEY_MAX_TAIL];

	assert_int_equal(cache_key_tail(tail, CACHE_KEY_LOAD, "-v\0x", 4), 4);
	assert_memory_equal(tail, "\0 -v", 4);
}

/* The hash of a key, and its length. */
TEST(a_key_is_known_by_its_bytes)
{
	const struct cache_profile profile = profile_of("Jun 25 202401:14:48");
	struct cache_key_input input = {.sm = 86,
									.form = CACHE_KEY_LINK,
									.payload = ".version 7.0\n",
									.payload_size = 14,
									.options = "-v",
									.options_length = 2};
	char key[] = "Jun 25 202401:14:48HOST64sm_86.version 7.0\n\0\0 -c-v ";
	const size_t length = sizeof key - 2;
	uint64_t hash = fnv_update(FNV_START, key, length), hashed;

	assert_int_equal(cache_key_hash(profile.stamp, &input, &hashed), hash);
	assert_int_equal(hashed, length);
	input.bare = true;
	memmove(key + 44, key + 45, length - 45);
	assert_int_equal(cache_key_hash(profile.stamp, &input, &hashed),
					 fnv_update(FNV_START, key, length - 1));
	assert_int_equal(hashed, length - 1);
}

TEST(names_and_keys_are_each_others_reverse)
{
	char name[CACHE_NAME_SIZE];
	uint64_t key = 0;

	assert_string_equal(cache_entry_name(name, UINT64_C(0x140412bf8e3256ad)), "1/4/0412bf8e3256ad");
	assert_true(cache_entry_key("1", "4", "0412bf8e3256ad", &key));
	assert_int_equal(key, UINT64_C(0x140412bf8e3256ad));
	assert_false(cache_entry_key("1", "4", "0412bf8e3256a", &key));
	assert_false(cache_entry_key("1", "4", "0412bf8e3256adf", &key));
	assert_false(cache_entry_key("1", "4", "0412BF8E3256AD", &key));
	assert_false(cache_entry_key("1", "", "0412bf8e3256ad", &key));
}

struct tally {
	size_t entries, cuda, opencl, linked;
};

/* The key joined again from its parts must match the file's name. */
static void rebuild(const struct cache_key_parts *parts, const struct cache_entry *entry,
					uint64_t name)
{
	struct cache_profile profile = profile_of(parts->stamp);
	uint64_t length;

	assert_int_equal(
		cache_key_hash(profile.stamp,
					   &(struct cache_key_input){parts->target.sm, parts->form, parts->payload,
												 parts->payload_size, parts->options,
												 parts->options_length, false},
					   &length),
		name);
	assert_int_equal(length, entry->key_bytes);
}

static void take_entry(void *context, const char *path, const struct buf *content)
{
	struct tally *tally = context;
	struct cache_entry entry;
	struct cache_key_parts parts;
	struct cache_origin origin;
	char first[2] = {path[0]}, second[2] = {path[2]};
	uint64_t name;

	if (!strcmp(path, "index"))
		return;
	assert_true(cache_entry_key(first, second, path + 4, &name));
	assert_int_equal(cache_entry_verify(content->data, content->size, name, &entry), CACHE_SOUND);
	assert_int_equal(entry.extra_bytes, 0);
	tally->entries++;
	cache_origin_of(entry.key, (size_t)entry.key_bytes, entry.value, (size_t)entry.value_bytes,
					&origin);
	assert_true(origin.kind != JW_CACHE_OTHER);
	assert_true(origin.target.sm >= 50 && origin.target.sm <= 120);
	assert_true(origin.driver[0]);
	if (origin.kind == JW_CACHE_OPENCL) {
		tally->opencl++;
		return;
	}
	assert_true(cache_key_split(entry.key, entry.key_bytes, &parts));
	tally->linked += parts.form == CACHE_KEY_LINK;
	rebuild(&parts, &entry, name);
}

static void every_real_key_gives_its_files_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < CACHES_COUNT; i++) {
		const struct caches_archive *archive = &caches_archives[i];
		struct tally tally = {0};

		caches_each(archive->name, take_entry, &tally);
		assert_int_equal(tally.entries, archive->entries);
		assert_int_equal(tally.opencl, archive->opencl);
		assert_int_equal(tally.linked, archive->linked);
	}
}

TEST_PROGRAM
{
	const struct CMUnitTest real[] = {cmocka_unit_test(every_real_key_gives_its_files_name)};
	int failed = RUN_GROUP(NULL, NULL);

	if (failed || !caches_here())
		return failed ? failed
					  : check_skip("no real caches here (JITWARM_TESTDATA names their folder)");
	return cmocka_run_group_tests_name("real caches", real, NULL, NULL);
}
