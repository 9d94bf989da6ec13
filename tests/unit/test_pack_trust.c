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

/* Every bit of a signature's file: reading fails, verification fails, or only the untrusted comment
 * changed. */
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

/* A comment ends within its room. */
static void comments_have_a_length(void **state)
{
	struct minisign_secret secret;
	struct minisign_public key;
	struct minisign_signature signature, read;
	struct buf text = BUF_MAX(1 << 16);
	const char *first, *comment, *last;

	(void)state;
	make_signature(&secret, &key, &signature);
	assert_int_equal(minisign_write_signature(NULL, &signature, &text), 0);
	first = buf_text(&text);
	comment = strstr(first, "what it is\n");
	assert_non_null(comment);
	last = comment + strlen("what it is");
	for (size_t length = MINISIGN_MOST_COMMENT - 2; length <= MINISIGN_MOST_COMMENT; length++) {
		struct buf longer = BUF_MAX(1 << 16);

		assert_int_equal(buf_append(NULL, &longer, first, (size_t)(comment - first)), 0);
		for (size_t i = 0; i < length; i++)
			assert_int_equal(buf_append(NULL, &longer, "c", 1), 0);
		assert_int_equal(buf_append(NULL, &longer, last, strlen(last)), 0);
		assert_int_equal(
			minisign_read_signature(NULL, (const char *)longer.data, longer.size, &read),
			length < MINISIGN_MOST_COMMENT ? 0 : -1);
		if (length < MINISIGN_MOST_COMMENT)
			assert_int_equal(strlen(read.comment), length);
		buf_free(&longer);
	}
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

static void copy_file(const char *from, const char *to)
{
	struct buf bytes = {0};

	assert_int_equal(os_read_file(NULL, from, 1 << 20, &bytes), 0);
	assert_int_equal(os_write_atomic(NULL, to, bytes.data, bytes.size), 0);
	buf_free(&bytes);
}

/* The name that a pack was signed under is told where it has another one now. */
static void check_renamed(const char *path, const char *name)
{
	char *renamed = os_join(NULL, folder, name);
	char *signatures[] = {mem_printf(NULL, "%s.minisig", path),
						  mem_printf(NULL, "%s.minisig", renamed)};
	char *cache = mem_printf(NULL, "%s.cache", renamed);
	const struct jw_import_options options = {
		.size = sizeof options, .path = renamed, .state_dir = folder, .cache_dir = cache};
	struct jw_import_result *result;
	struct jw_error err;

	copy_file(path, renamed);
	copy_file(signatures[0], signatures[1]);
	if (jw_import(&err, &options, &result))
		fail_msg("%s", err.message);
	assert_non_null(strstr(result->note, "it was signed under the name “"));
	assert_non_null(strstr(result->note, os_base_name(path)));
	jw_import_result_free(result);
	mem_free(signatures[0]);
	mem_free(signatures[1]);
	mem_free(renamed);
	mem_free(cache);
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
			assert_string_equal(result->note, "");
			check_renamed(path, "longer-than-its-name-before.jwpack");
			names.items[i][0] ^= 1;
			check_renamed(path, names.items[i]);
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

/* A name becomes a part of a path: none leads out of the folder, hides a file or looks like an
 * option. */
/* 104 bytes of zeros, in base64 */
#define SEALED_ZEROS                                                                               \
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"                       \
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

/* minisign's own cost, and one more of each. */
static void keys_that_cost_too_much_are_refused(void **state)
{
	static const char *const texts[] = {
		"untrusted comment: opslimit\n"
		"RWRTY0IyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAACAAAAAAAAEAAAAAAA" SEALED_ZEROS
		"\n",
		"untrusted comment: memlimit\n"
		"RWRTY0IyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAEAAEAAAAAA" SEALED_ZEROS
		"\n",
	};
	struct minisign_secret secret;
	struct jw_error err = {0};
	bool encrypted;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_true(minisign_is_secret(texts[i], strlen(texts[i]), &encrypted));
		assert_true(encrypted);
		assert_int_equal(minisign_read_secret(&err, texts[i], strlen(texts[i]), "it", &secret), -1);
		assert_int_equal(err.code, JW_ERR_LIMIT);
	}
}

static void names_of_keys_are_checked(void **state)
{
	static const char *const bad[] = {"",
									  "../evil",
									  "a/b",
									  "a\\b",
									  ".hidden",
									  "..",
									  "-x",
									  "a b",
									  "a\nb",
									  "k\xc3\xa9y",
									  "a:b",
									  "a*",
									  "a1234567890123456789012345678901234567890"};
	static const char good[] = "a123456789012345678901234567890123456_-.";
	char *keys = os_join(NULL, folder, "named"), *file = os_join(NULL, folder, "secret");
	struct jw_key key;

	(void)state;
	assert_int_equal(jw_key_generate(NULL, folder, "first", NULL, &key), 0);
	{
		char *from = os_join(NULL, folder, "keys/first.key");
		struct buf text = {0};

		assert_int_equal(os_read_file(NULL, from, 4096, &text), 0);
		assert_int_equal(os_write_atomic(NULL, file, text.data, text.size), 0);
		buf_free(&text);
		mem_free(from);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct jw_error err[5] = {{0}};

		assert_int_equal(jw_key_generate(&err[0], keys, bad[i], NULL, &key), -1);
		assert_int_equal(jw_key_import(&err[1], keys, bad[i], file, NULL, &key), -1);
		assert_int_equal(jw_key_trust(&err[2], keys, bad[i], key.public_key, &key), -1);
		assert_int_equal(jw_key_distrust(&err[3], keys, bad[i]), -1);
		for (size_t call = 0; call < 4; call++)
			if (err[call].code != JW_ERR_USAGE)
				fail_msg("“%s”, call %zu: %s", bad[i], call, err[call].message);
		/* Text with a separator is a path, and so is what is there. */
		if (strpbrk(bad[i], "/\\") || os_exists(bad[i]))
			continue;
		assert_int_equal(jw_key_check(&err[4], keys, bad[i], NULL), -1);
		assert_int_equal(err[4].code, JW_ERR_USAGE);
	}
	assert_false(os_exists(keys));
	assert_int_equal(strlen(good), 40);
	assert_int_equal(jw_key_trust(NULL, keys, good, key.public_key, &key), 0);
	assert_int_equal(jw_key_distrust(NULL, keys, good), 0);
	assert_int_equal(jw_key_import(NULL, keys, good, file, NULL, &key), 0);
	assert_int_equal(jw_key_check(NULL, keys, good, NULL), 0);
	mem_free(keys);
	mem_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signed_and_verified),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(comments_have_a_length),
		cmocka_unit_test(secret_keys),
		cmocka_unit_test(keys_that_cost_too_much_are_refused),
		cmocka_unit_test(names_of_keys_are_checked),
		cmocka_unit_test(every_version),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
