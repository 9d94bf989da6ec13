/* The hashes equal published vectors, and the side-by-side FNV equals the plain one. */
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

TEST(digest_is_blake2b_256)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];

	digest_of(&digest, "abc", 3);
	digest_text(text, &digest);
	assert_string_equal(text, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

RUN_TESTS(NULL, NULL)
