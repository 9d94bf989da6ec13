/* Hashes against published vectors, and the side-by-side FNV against the plain one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

TEST(fnv_matches_published_vectors)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} cases[] = {
		{"", UINT64_C(0xcbf29ce484222325)},
		{"a", UINT64_C(0xaf63dc4c8601ec8c)},
		{"foobar", UINT64_C(0x85944171f73967e8)},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(fnv_update(FNV_START, cases[i].text, strlen(cases[i].text)),
						 cases[i].hash);
}

TEST(many_lanes_hash_like_one)
{
	static uint8_t data[4096];
	struct fnv_lane lanes[37];

	srand(7);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)rand();
	for (size_t count = 0; count <= 37; count++) {
		for (size_t i = 0; i < count; i++)
			lanes[i] = (struct fnv_lane){FNV_START + i, data + i, i * i * 3 % 2000};
		fnv_update_many(lanes, count);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(lanes[i].state, fnv_update(FNV_START + i, data + i, i * i * 3 % 2000));
	}
}

TEST(digest_is_blake2b_256)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];

	digest_of(&digest, "abc", 3);
	digest_text(text, &digest);
	assert_string_equal(text, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

/* Lengths around that of a block, and zero. */
TEST(many_digests_are_those_of_one)
{
	static const size_t sizes[] = {0, 1, 127, 128, 129, 255, 256, 257, 1000, 4000, 1280};
	static uint8_t data[4096];
	struct digest_message messages[23];

	srand(11);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)rand();
	for (size_t count = 0; count <= 23; count++) {
		for (size_t i = 0; i < count; i++)
			messages[i] = (struct digest_message){
				.data = data + i, .size = sizes[(i + count) % (sizeof sizes / sizeof *sizes)]};
		digest_of_many(messages, count);
		for (size_t i = 0; i < count; i++) {
			struct digest one;

			digest_of(&one, messages[i].data, messages[i].size);
			assert_true(digest_equal(&one, &messages[i].digest));
		}
	}
}

RUN_TESTS(NULL, NULL)
