/* Signatures: signed bytes are accepted, all others are not; and packs of every released version
 * can be read (tests/data). */
#include "folder.h"

#include <string.h>

#include <jitwarm/key.h>
#include <jitwarm/pack.h>

#include "base/text.h"
#include "pack/minisign.h"

static const uint8_t prehash[MINISIGN_PREHASH] = {1, 2, 3};

static void make_signature(struct minisign_secret *secret, struct minisign_public *key,
						   struct minisign_signature *signature)
{
	minisign_generate(secret);
	minisign_public_of(secret, key);
	assert_int_equal(minisign_sign(NULL, secret, prehash, "what it is", signature), 0);
}

static void signed_and_verified(void **state)
{
	struct minisign_secret secret;
	struct minisign_public key, other;
	struct minisign_signature signature, changed;
	uint8_t another[MINISIGN_PREHASH] = {1, 2, 4};

	(void)state;
	make_signature(&secret, &key, &signature);
	assert_true(minisign_verify(&signature, &key, prehash));
	assert_false(minisign_verify(&signature, &key, another));
	other = key;
	other.id[0] ^= 1;
	assert_false(minisign_verify(&signature, &other, prehash));
	other = key;
	other.key[5] ^= 1;
	assert_false(minisign_verify(&signature, &other, prehash));
	changed = signature;
	changed.comment[0] = 'W';
	assert_false(minisign_verify(&changed, &key, prehash));
	for (size_t i = 0; i < MINISIGN_SIGNATURE; i++) {
		changed = signature;
		changed.signature[i] ^= 4;
		assert_false(minisign_verify(&changed, &key, prehash));
		changed = signature;
		changed.global[i] ^= 4;
		assert_false(minisign_verify(&changed, &key, prehash));
	}
	assert_int_equal(minisign_sign(NULL, &secret, prehash, "two\nlines", &changed), -1);
}

/* Every bit of a signature's file: it either does not read or does not hold, or it is the untrusted
 * comment that says something else. */
static void every_bit(void **state)
{
	struct minisign_secret secret;
	struct minisign_public key;
	struct minisign_signature signature, read;
	struct buf text = BUF_MAX(MINISIGN_MOST_FILE);
	size_t comment;

	(void)state;
	make_signature(&secret, &key, &signature);
	assert_int_equal(minisign_write_signature(NULL, &signature, &text), 0);
	comment = strcspn(buf_text(&text), "\n");
	for (size_t bit = 0; bit < 8 * text.size; bit++) {
		text.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!minisign_read_signature(NULL, (const char *)text.data, text.size, &read) &&
			minisign_verify(&read, &key, prehash))
			/* or the line feed at the very end, which may be missing */
			if (bit / 8 >= comment)
				fail_msg("bit %zu of byte %zu (of %zu): “%s”", bit % 8, bit / 8, text.size,
						 buf_text(&text));
		text.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (size_t size = 0; size + 1 < text.size; size++)
		assert_int_equal(minisign_read_signature(NULL, (const char *)text.data, size, &read), -1);
	buf_free(&text);
}

static void secret_keys(void **state)
{
	struct minisign_secret secret, read;
	struct buf text = BUF_MAX(MINISIGN_MOST_FILE);
	const char *bytes;
	struct jw_error err;
	bool encrypted;

	(void)state;
	minisign_generate(&secret);
	assert_int_equal(minisign_write_secret(NULL, &secret, NULL, &text), 0);
	bytes = buf_text(&text);
	assert_true(minisign_is_secret(bytes, text.size, &encrypted));
	assert_false(encrypted);
	assert_int_equal(minisign_read_secret(NULL, bytes, text.size, NULL, &read), 0);
	assert_memory_equal(&read, &secret, sizeof read);
	buf_clear(&text);
	assert_int_equal(minisign_write_secret(NULL, &secret, "correct horse", &text), 0);
	bytes = buf_text(&text);
	assert_true(minisign_is_secret(bytes, text.size, &encrypted));
	assert_true(encrypted);
	assert_int_equal(minisign_read_secret(&err, bytes, text.size, NULL, &read), -1);
	assert_int_equal(minisign_read_secret(&err, bytes, text.size, "battery", &read), -1);
	assert_int_equal(err.code, JW_ERR_USAGE);
	assert_int_equal(minisign_read_secret(NULL, bytes, text.size, "correct horse", &read), 0);
	assert_memory_equal(&read, &secret, sizeof read);
	buf_free(&text);
}

/* A pack of each version, its signature by a key that is trusted for this. */
static void every_version(void **state)
{
	static const char data[] = JITWARM_SOURCE_DIR "/tests/data";
	struct os_names names;
	size_t packs = 0;

	(void)state;
	assert_int_equal(os_list(NULL, data, &names), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *path = os_join(NULL, data, names.items[i]), *key, *copy;
		struct jw_import_options options = {
			.size = sizeof options, .path = path, .state_dir = folder};
		struct jw_import_result *result;
		struct jw_key trusted;
		struct jw_error err;

		if (text_ends(names.items[i], ".jwpack")) {
			key = mem_printf(NULL, "%.*s.pub", (int)strlen(path) - 7, path);
			copy = mem_printf(NULL, "%s/%zu", folder, i);
			options.cache_dir = copy;
			assert_int_equal(jw_key_trust(&err, folder, NULL, key, &trusted), 0);
			if (jw_import(&err, &options, &result))
				fail_msg("%s", err.message);
			assert_int_equal(result->added, 3);
			assert_string_equal(result->signed_by, trusted.name);
			jw_import_result_free(result);
			mem_free(key);
			mem_free(copy);
			packs++;
		}
		mem_free(path);
	}
	assert_true(packs >= 1);
	os_names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signed_and_verified),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(secret_keys),
		cmocka_unit_test(every_version),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
