/* Entries, their names and their keys: on bytes made here and on real caches. */
#include "caches.h"

#include <stdio.h>

#include "base/hash.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "os/folders.h"

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

		assert_int_equal(cache_key_hash(&profile,
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
	char tail[CACHE_KEY_MOST_TAIL];

	assert_int_equal(cache_key_tail(tail, CACHE_KEY_LOAD, "-v\0x", 4), 4);
	assert_memory_equal(tail, "\0 -v", 4);
}

TEST(inputs_without_a_key_have_length_zero)
{
	char options[CACHE_KEY_MOST_TAIL];
	struct cache_profile known = profile_of("Jun 25 202401:14:48"), unknown = profile_of("");
	uint64_t length = 1;

	memset(options, 'x', sizeof options);
	assert_int_equal(
		cache_key_hash(&unknown, &(struct cache_key_input){86, CACHE_KEY_LOAD, "", 0, "", 0, false},
					   &length),
		0);
	assert_int_equal(length, 0);
	length = 1;
	assert_int_equal(cache_key_hash(&known,
									&(struct cache_key_input){86, CACHE_KEY_LOAD, "", 0, options,
															  sizeof options, false},
									&length),
					 0);
	assert_int_equal(length, 0);
}

/* Every bit of it counts, and its length. */
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

	assert_int_equal(cache_key_hash(&profile, &input, &hashed), hash);
	assert_int_equal(hashed, length);
	assert_true(cache_key_is(&profile, &input, key, length));
	assert_false(cache_key_is(&profile, &input, key, length - 1));
	assert_false(cache_key_is(&profile, &input, key, length + 1));
	assert_false(cache_key_is(&profile, &input, NULL, 0));
	for (size_t i = 0; i < length; i++) {
		key[i] ^= 1;
		assert_false(cache_key_is(&profile, &input, key, length));
		key[i] ^= 1;
	}
	input.bare = true;
	assert_false(cache_key_is(&profile, &input, key, length));
	memmove(key + 44, key + 45, length - 45);
	assert_true(cache_key_is(&profile, &input, key, length - 1));
	assert_int_equal(cache_key_hash(&profile, &input, &hashed),
					 fnv_update(FNV_START, key, length - 1));
	assert_int_equal(hashed, length - 1);
}

/* What lies behind a key in memory is no part of it. */
TEST(a_key_that_ends_behind_its_target_is_none)
{
	static const char key[] = "Jun 25 202401:14:48HOST64sm_86a.version 8.4\n";
	struct cache_key_parts parts;

	assert_true(cache_key_split(key, sizeof key - 1, &parts));
	assert_int_equal(parts.target.suffix, 'a');
	assert_false(cache_key_split(key, 30, &parts));
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

/* An entry with key "key" and value "value", and its damage. */
static size_t make_entry(uint8_t file[64])
{
	cache_entry_header(file, 3, 5, fnv_update(FNV_START, "value", 5));
	memcpy(file + CACHE_ENTRY_HEADER, "keyvalue", 8);
	return CACHE_ENTRY_HEADER + 8;
}

TEST(the_probe_finds_damage_in_a_header)
{
	static const struct {
		size_t size;
		uint64_t key_bytes;
		enum cache_presence presence;
	} cases[] = {
		{36, 3, CACHE_PRESENT},  {36, 0, CACHE_PRESENT},  {40, 3, CACHE_PRESENT},
		{36, 4, CACHE_UNUSABLE}, {35, 3, CACHE_UNUSABLE}, {0, 3, CACHE_UNUSABLE},
	};
	uint64_t name = fnv_update(FNV_START, "key", 3);
	uint8_t file[64] = {0};
	char *dir, *path, *parent;

	(void)make_entry(file);
	assert_int_equal(os_make_temp_dir(NULL, "jitwarm-test", &dir), 0);
	path = cache_entry_path(NULL, dir, name);
	parent = os_dir_name(NULL, path);
	assert_int_equal(cache_presence(dir, name, 3, NULL), CACHE_ABSENT);
	assert_int_equal(os_make_dirs(NULL, parent, 0700), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_probed probed = {0};

		assert_int_equal(os_write_atomic(NULL, path, file, cases[i].size), 0);
		assert_int_equal(cache_presence(dir, name, cases[i].key_bytes, &probed), cases[i].presence);
		assert_int_equal(probed.size_bytes, cases[i].size);
	}
	assert_int_equal(os_remove(NULL, path), 0);
	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	assert_int_equal(cache_presence(dir, name, 3, NULL), CACHE_UNUSABLE);
	assert_int_equal(os_remove_tree(NULL, dir), 0);
	mem_free(parent);
	mem_free(path);
	mem_free(dir);
}

/* An OpenCL key has the driver's release between its last two NULs. */
TEST(an_opencl_key_names_its_driver)
{
	static const struct {
		const char *key;
		size_t size;
		const char *driver;
	} cases[] = {
#define KEY(text) .key = text, .size = sizeof text - 1
		{KEY("kernel\000418.39\0\1"), .driver = "418.39"},
		{KEY("kernel\000580.126.09\0"), .driver = "580.126.09"},
		{KEY("kernel\000418.3x\0"), .driver = ""},
		{KEY("kernel\000x418.39\0"), .driver = ""},
		{KEY("kernel\000418\0"), .driver = ""},
		{KEY("kernel\000418.39\0later\0"), .driver = ""},
		{KEY("kernel 418.39\0"), .driver = ""},
#undef KEY
	};
	static const uint8_t value[] = "//\n.version 6.3\n";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct cache_entry entry = {.key = (const void *)cases[i].key,
										  .key_bytes = cases[i].size,
										  .value = value,
										  .value_bytes = sizeof value};
		struct cache_origin origin;

		cache_entry_origin(&entry, &origin);
		assert_int_equal(origin.kind, CACHE_KIND_OPENCL);
		assert_string_equal(origin.driver, cases[i].driver);
	}
}

TEST(keys_are_taken_apart)
{
#define STAMP "Aug 20 202514:13:09"
	static const struct {
		const char *key;
		size_t size;
		bool cuda;
		uint16_t sm;
		char suffix;
		size_t payload_size;
		enum cache_key_form form;
		bool jitlink;
		const char *options;
	} cases[] = {
#define KEY(text) .key = text, .size = sizeof text - 1
		{KEY(STAMP "HOST64sm_86PTX\0\0 "), true, 86, 0, 4, CACHE_KEY_LOAD, false, ""},
		{KEY(STAMP "HOST64sm_120PTX\0 -O4"), .cuda = true, .sm = 120, .payload_size = 3,
		 .form = CACHE_KEY_LOAD, .options = "-O4"},
		{KEY(STAMP "HOST64sm_90a//\0 -v "), .cuda = true, .sm = 90, .suffix = 'a',
		 .payload_size = 2, .form = CACHE_KEY_LOAD, .options = "-v "},
		{KEY(STAMP "HOST64sm_86\0 -c-maxrregcount=96 -v "), .cuda = true, .sm = 86,
		 .form = CACHE_KEY_LINK, .options = "-maxrregcount=96 -v "},
		{KEY(STAMP "HOST64sm_86\0 -arch=sm_86 -c"), .cuda = true, .sm = 86, .form = CACHE_KEY_LOAD,
		 .jitlink = true, .options = "-arch=sm_86 -c"},
		{KEY(STAMP "HOST64sm_86.version 7.0 -v"), .cuda = true, .sm = 86, .payload_size = 15,
		 .form = CACHE_KEY_LOAD, .options = ""},
		{KEY("Aug 20 2025 14:13:09HOST64sm_86\0 "), .form = CACHE_KEY_LOAD},
		{KEY(STAMP "HOST64sm_86PTX"), .form = CACHE_KEY_LOAD},
		{KEY(STAMP "HOST64sm_86PTX\0"), .form = CACHE_KEY_LOAD},
		{KEY(STAMP "HOST64sm_"), .form = CACHE_KEY_LOAD},
		{KEY(STAMP "HOST"), .form = CACHE_KEY_LOAD},
		{KEY(""), .form = CACHE_KEY_LOAD},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_key_parts parts;

		assert_int_equal(cache_key_split(cases[i].key, cases[i].size, &parts), cases[i].cuda);
		if (!cases[i].cuda)
			continue;
		assert_string_equal(parts.stamp, STAMP);
		assert_int_equal(parts.target.sm, cases[i].sm);
		assert_int_equal(parts.target.suffix, cases[i].suffix);
		assert_int_equal(parts.payload_size, cases[i].payload_size);
		assert_int_equal(parts.form, cases[i].form);
		assert_int_equal(parts.jitlink, cases[i].jitlink);
		assert_int_equal(parts.options_length, strlen(cases[i].options));
		if (parts.options_length)
			assert_memory_equal(parts.options, cases[i].options, parts.options_length);
	}
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
		cache_key_hash(&profile,
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
	cache_entry_origin(&entry, &origin);
	assert_true(origin.kind != CACHE_KIND_OTHER);
	assert_true(origin.target.sm >= 50 && origin.target.sm <= 120);
	assert_true(origin.driver[0]);
	if (origin.kind == CACHE_KIND_OPENCL) {
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
		return failed ? failed : CHECK_SKIP;
	return cmocka_run_group_tests_name("real caches", real, NULL, NULL);
}
