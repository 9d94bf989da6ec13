/* Hashes against published vectors, and the side-by-side FNV against the plain one. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void fnv_matches_published_vectors(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} cases[] = {
		{"", UINT64_C(0xcbf29ce484222325)},
		{"a", UINT64_C(0xaf63dc4c8601ec8c)},
		{"foobar", UINT64_C(0x85944171f73967e8)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(fnv_update(FNV_START, cases[i].text, strlen(cases[i].text)),
						 cases[i].hash);
}

static void many_lanes_give_what_one_gives(void **state)
{
	static uint8_t data[4096];
	struct fnv_lane lanes[37];

	(void)state;
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

static void digest_is_blake2b_256(void **state)
{
	struct digest digest;
	char text[DIGEST_TEXT_SIZE];

	(void)state;
	digest_of(&digest, "abc", 3);
	digest_text(text, &digest);
	assert_string_equal(text, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fnv_matches_published_vectors),
		cmocka_unit_test(many_lanes_give_what_one_gives),
		cmocka_unit_test(digest_is_blake2b_256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
