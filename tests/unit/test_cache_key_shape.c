/* A key is recognised by exactly the bytes that each place may hold, and split where its parts end.
 * */
#include "cache/entry.h"
#include "cache/profile.h"
#include "check.h"

#include <string.h>

#include "base/hash.h"
#include "cache/key.h"

#define STAMP "Aug 20 202514:13:09"
#define START STAMP "HOST64sm_86"

static bool is_letter(unsigned byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(unsigned byte)
{
	return byte >= '0' && byte <= '9';
}

/* In a shape, A is a letter, 0 a digit, _ a digit or a blank, and any other byte itself. */
static bool fits(char shape, unsigned byte)
{
	switch (shape) {
	case 'A': return is_letter(byte);
	case '0': return is_digit(byte);
	case '_': return is_digit(byte) || byte == ' ';
	default: return byte == (unsigned char)shape;
	}
}

TEST(each_byte_of_a_keys_start_has_its_kind)
{
	static const char sound[] = START "\0 ", shape[] = "AAA _0 000000:00:00....00";
	struct cache_key_parts parts;

	for (size_t at = 0; at < sizeof shape - 1; at++)
		for (unsigned byte = 0; byte < 256; byte++) {
			const char wanted = at >= 19 && at < 23 ? sound[at] : shape[at];
			char key[sizeof sound];

			memcpy(key, sound, sizeof key);
			key[at] = (char)byte;
			if (cache_key_split(key, sizeof sound - 1, &parts) != fits(wanted, byte))
				fail_msg("byte %zu as %u", at, byte);
		}
	assert_true(cache_key_split(STAMP "HOST32sm_86\0 ", 32, &parts));
	assert_int_equal(parts.word_bits, 32);
}

TEST(targets_have_two_or_three_digits)
{
	static const struct {
		const char *target;
		bool is;
		uint16_t sm;
		char suffix;
		size_t payload_size;
	} cases[] = {
		{.target = "sm_8"},
		{.target = "sm_86", .is = true, .sm = 86},
		{.target = "sm_120", .is = true, .sm = 120},
		{.target = "sm_1201", .is = true, .sm = 120, .payload_size = 1},
		{.target = "sm_90a", .is = true, .sm = 90, .suffix = 'a'},
		{.target = "sm_100f", .is = true, .sm = 100, .suffix = 'f'},
		{.target = "sm_90b", .is = true, .sm = 90, .payload_size = 1},
		{.target = "sm_90af", .is = true, .sm = 90, .suffix = 'a', .payload_size = 1},
		{.target = "sm-86"},
		{.target = "sm_a6"},
		{.target = ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char key[64] = STAMP "HOST64";
		struct cache_key_parts parts = {0};
		size_t size;

		strcat(key, cases[i].target);
		size = strlen(key) + 2;
		key[size - 1] = ' ';
		assert_int_equal(cache_key_split(key, size, &parts), cases[i].is);
		assert_int_equal(parts.target.sm, cases[i].sm);
		assert_int_equal(parts.target.suffix, cases[i].suffix);
		assert_int_equal(parts.payload_size, cases[i].payload_size);
	}
}

TEST(a_tail_tells_the_form)
{
#define KEY(text) .key = START text, .size = sizeof START text - 1
	static const struct {
		const char *key;
		size_t size;
		bool is, jitlink, link;
		size_t payload_size;
		const char *options;
	} cases[] = {
		{KEY("\0 "), .is = true, .options = ""},
		{KEY("\0"), .options = ""},
		{KEY("\0-c"), .options = ""},
		{KEY("\0 -c"), .is = true, .link = true, .options = ""},
		{KEY("\0 -cv"), .is = true, .link = true, .options = "v"},
		{KEY("\0 -v -c"), .is = true, .options = "-v -c"},
		{KEY("\0 -arch=sm_86"), .is = true, .options = "-arch=sm_86"},
		{KEY("\0 -arch=sm_ -c"), .is = true, .jitlink = true, .options = "-arch=sm_ -c"},
		{KEY("\0 -c -arch=sm_86"), .is = true, .link = true, .options = " -arch=sm_86"},
		{KEY("\0 -c -arch=sm_86 -c"), .is = true, .jitlink = true, .options = "-c -arch=sm_86 -c"},
		{KEY("x\0b\0 -v"), .is = true, .payload_size = 3, .options = "-v"},
		{KEY("x\0b"), .options = ""},
		{KEY(".version "), .is = true, .payload_size = 9, .options = ""},
		{KEY("//.version "), .is = true, .payload_size = 11, .options = ""},
		{KEY(".version"), .options = ""},
		{KEY(".versio.versio"), .options = ""},
	};
#undef KEY

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_key_parts parts = {0};

		if (cache_key_split(cases[i].key, cases[i].size, &parts) != cases[i].is)
			fail_msg("case %zu", i);
		assert_int_equal(parts.jitlink, cases[i].jitlink);
		assert_int_equal(parts.form == CACHE_KEY_LINK, cases[i].link);
		assert_int_equal(parts.payload_size, cases[i].payload_size);
		assert_int_equal(parts.options_length, strlen(cases[i].options));
		if (parts.options_length)
			assert_memory_equal(parts.options, cases[i].options, parts.options_length);
	}
}

static struct cache_origin origin_of(const char *key, size_t size, const void *value,
									 size_t value_size)
{
	const struct cache_entry entry = {
		.key = (const void *)key, .key_bytes = size, .value = value, .value_bytes = value_size};
	struct cache_origin origin;

	cache_origin_of(entry.key, (size_t)entry.key_bytes, entry.value, (size_t)entry.value_bytes,
					&origin);
	return origin;
}

/* Between the last NUL and the one before it are five to nineteen digits and dots. */
TEST(a_release_has_its_bounds)
{
	static const struct {
		const char *key;
		size_t size;
		const char *driver;
	} cases[] = {
#define KEY(text) .key = text, .size = sizeof text - 1
		{KEY("\000418.3\0"), "418.3"},
		{KEY("\000418.\0"), ""},
		{KEY("\000418.30.010203040506\0"), "418.30.010203040506"},
		{KEY("\000418.30.0102030405067\0"), ""},
		{KEY("\000418.30.01020304050678\0"), ""},
		{KEY("418.39\0"), ""},
		{KEY("\000418.39"), ""},
		{KEY("\0\0"), ""},
		{KEY("\0"), ""},
		{KEY("418.39"), ""},
		{KEY("\000418x39\0"), ""},
		{KEY("\00041a.39\0"), ""},
		{KEY("\000418.3/\0"), ""},
		{KEY("\000418.3:\0"), ""},
		{KEY("\000418.39\0\0"), ""},
		{KEY("x"), ""},
#undef KEY
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cache_origin origin = origin_of(cases[i].key, cases[i].size, ".version 6", 10);

		assert_int_equal(origin.kind, JW_CACHE_OPENCL);
		if (strcmp(origin.driver, cases[i].driver) != 0)
			fail_msg("case %zu: “%s”", i, origin.driver);
	}
}

/* Bytes after the key are not part of it. */
TEST(an_opencl_target_ends_with_the_key)
{
	static const struct {
		const char *key;
		size_t cut;
		uint16_t sm;
		char suffix;
	} cases[] = {
		{"x -cl-nv-arch sm_86 y", 0, 86, 0},
		{"-cl-nv-arch sm_120a", 0, 120, 'a'},
		{"-cl-nv-arch sm_120a", 1, 120, 0},
		{"-cl-nv-arch sm_86", 1, 0, 0},
		{"-cl-nv-arch sm_86", 2, 0, 0},
		{"-cl-nv-arch sm_86", 3, 0, 0},
		{"-cl-nv-arch sm_86", 5, 0, 0},
		{"-cl-nv-arch sm_86", 6, 0, 0},
		{"-cl-nv-arch tm_86", 0, 0, 0},
		{"-cl-nv-brch sm_86", 0, 0, 0},
		{"", 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct cache_origin origin =
			origin_of(cases[i].key, strlen(cases[i].key) - cases[i].cut, ".version 6", 10);

		assert_int_equal(origin.target.sm, cases[i].sm);
		assert_int_equal(origin.target.suffix, cases[i].suffix);
	}
}

TEST(ptx_is_known_within_4096_bytes)
{
	static char value[8192];
	static const size_t ends[] = {9, 10, 4095, 4096, 4097, 4105, 8192};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		memset(value, '.', sizeof value);
		memcpy(value + ends[i] - 9, ".version ", 9);
		assert_int_equal(origin_of("k", 1, value, sizeof value).kind,
						 ends[i] <= 4096 ? JW_CACHE_OPENCL : JW_CACHE_OTHER);
		assert_int_equal(origin_of("k", 1, value, ends[i] - 1).kind, JW_CACHE_OTHER);
		if (ends[i] <= 4096)
			assert_int_equal(origin_of("k", 1, value, ends[i]).kind, JW_CACHE_OPENCL);
	}
	assert_int_equal(origin_of("k", 1, value, 0).kind, JW_CACHE_OTHER);
	assert_int_equal(origin_of(START "\0 ", sizeof START + 1, ".version ", 9).kind, JW_CACHE_CUDA);
	assert_string_equal(origin_of(START "\0 ", sizeof START + 1, "", 0).driver, STAMP);
	assert_int_equal(origin_of(START "\0 ", sizeof START + 1, "", 0).target.sm, 86);
}

/* ---- the parts of which keys are made */

TEST(a_start_is_that_of_every_key)
{
	static const char expected[] = START;
	struct cache_profile profile = {.stamp = STAMP};
	size_t length = 7;

	assert_int_equal(cache_key_start(profile.stamp, 86, &length),
					 fnv_update(FNV_START, expected, sizeof expected - 1));
	assert_int_equal(length, sizeof expected - 1);
	assert_int_equal(cache_key_start(profile.stamp, 86, NULL),
					 fnv_update(FNV_START, expected, sizeof expected - 1));
	profile.stamp[0] = '\0';
	assert_int_equal(cache_key_start(profile.stamp, 86, &length), 0);
	assert_int_equal(length, 0);
}

TEST(only_text_ends_at_a_nul)
{
	assert_int_equal(cache_key_payload(CACHE_KEY_TEXT, "ab\0c", 4), 2);
	assert_int_equal(cache_key_payload(CACHE_KEY_TEXT, "ab\0c", 2), 2);
	assert_int_equal(cache_key_payload(CACHE_KEY_TEXT, "abcd", 4), 4);
	assert_int_equal(cache_key_payload(CACHE_KEY_TEXT, NULL, 0), 0);
	assert_int_equal(cache_key_payload(CACHE_KEY_LOAD, "ab\0c", 4), 4);
	assert_int_equal(cache_key_payload(CACHE_KEY_LINK, "ab\0c", 4), 4);
}

/* A key may have an empty payload; other inputs have no key. */
TEST(a_key_needs_a_stamp_and_short_options)
{
	static const char key[] = START "\0 -v";
	static char options[CACHE_KEY_MAX_TAIL];
	struct cache_profile profile = {.stamp = STAMP};
	struct cache_key_input input = {
		.sm = 86, .form = CACHE_KEY_LOAD, .options = "-v", .options_length = 2};
	uint64_t length = 7;

	assert_int_equal(cache_key_hash(profile.stamp, &input, NULL),
					 fnv_update(FNV_START, key, sizeof key - 1));
	memset(options, 'x', sizeof options);
	input =
		(struct cache_key_input){.sm = 86, .options = options, .options_length = sizeof options};
	for (input.form = CACHE_KEY_LOAD; input.form <= CACHE_KEY_LINK; input.form++) {
		input.options_length = CACHE_KEY_MAX_OPTIONS;
		assert_int_not_equal(cache_key_hash(profile.stamp, &input, &length), 0);
		input.options_length = CACHE_KEY_MAX_OPTIONS + 1;
		assert_int_equal(cache_key_hash(profile.stamp, &input, &length), 0);
		assert_int_equal(length, 0);
	}
	profile.stamp[0] = '\0';
	input.options_length = 0;
	assert_int_equal(cache_key_hash(profile.stamp, &input, NULL), 0);
}

RUN_TESTS(NULL, NULL)
