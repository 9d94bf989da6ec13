/* Signatures: signed bytes are accepted, and all others are not; packs of every released version
 * can be read (tests/data). */
#include "folder.h"

#include <string.h>
#include <unistd.h>

#include <jitwarm/key.h>
#include <jitwarm/pack.h>
#include <sodium.h>

#include "base/text.h"
#include "os/env.h"
#include "os/private.h"
#include "pack/key_files.h"
#include "pack/minisign.h"
#include "pack/reader.h"
#include "pack/trust.h"

static const uint8_t prehash[MINISIGN_PREHASH] = {1, 2, 3};

static void make_signature(struct minisign_secret *secret, struct minisign_public *key,
						   struct minisign_signature *signature)
{
	minisign_generate(secret);
	minisign_public_of(secret, key);
	OK(minisign_sign(why, secret, prehash, "what it is", signature));
}

TEST(signed_and_verified)
{
	struct minisign_secret secret;
	struct minisign_public key, other;
	struct minisign_signature signature, changed;
	uint8_t another[MINISIGN_PREHASH] = {1, 2, 4};

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
	for (size_t i = 0; i < 3; i++) {
		static char longest[MINISIGN_MAX_COMMENT + 1];
		const char *const comments[] = {"two\nlines", "no \xff text", longest};

		memset(longest, 'c', MINISIGN_MAX_COMMENT);
		assert_int_equal(minisign_sign(NULL, &secret, prehash, comments[i], &changed), -1);
	}
}

static int refuse(struct jw_error *err, const char *path, bool for_all)
{
	return error_set(err, JW_ERR_UNSUPPORTED, "%s: refused%s", path, for_all ? " for all" : "");
}

/* A setting names a folder of public keys. A key that is trusted there is removed from there. */
TEST(a_named_folder_is_trusted_too)
{
	char *named = keep(os_join(folder, "named-keys")), *home = keep(os_join(folder, "no-state"));
	char *file = keep(os_join(named, "lab.pub")), *other = keep(os_join(named, "lab.txt"));
	struct minisign_secret secret;
	struct minisign_public key, found;
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);
	char name[64];

	minisign_generate(&secret);
	minisign_public_of(&secret, &key);
	minisign_write_public(&key, &text);
	OK(os_make_dirs(why, named, 0700));
	OK(os_write_atomic(why, other, text.data, text.size));
	jw_use_trusted_keys(named);
	assert_int_equal(keys_find_trusted(NULL, home, key.id, &found, name), -1);
	OK(os_write_atomic(why, file, text.data, text.size));
	for (size_t i = 0; i < 2; i++) { /* without a state directory, too */
		OK(keys_find_trusted(why, i ? NULL : home, key.id, &found, name));
		assert_memory_equal(&found, &key, sizeof key);
		assert_string_equal(name, "lab");
	}
	/* A key that the guard refuses is not believed. */
	os_set_guard(refuse);
	GIVES(JW_ERR_NOT_FOUND, keys_find_trusted(why, home, key.id, &found, name));
	os_set_guard(NULL);
	assert_non_null(strstr(why->message, "lab.pub: refused"));
	OK(jw_key_distrust(why, home, "lab"));
	assert_false(os_exists(file));
	jw_use_trusted_keys(NULL);
	buf_free(&text);
}

/* A name belongs to one key: keys with one number and different bytes, and the other way round. */
TEST(a_trusted_name_is_one_keys)
{
	char *keys = keep(os_join(folder, "one"));
	struct minisign_secret secret;
	struct minisign_public key;
	struct jw_key trusted;

	minisign_generate(&secret);
	minisign_public_of(&secret, &key);
	for (size_t i = 0; i < 4; i++) {
		struct minisign_public other = key;
		char text[MINISIGN_PUBLIC_TEXT];

		other.id[0] ^= i == 2;
		other.key[0] ^= i == 3;
		minisign_public_text(text, &other);
		GIVES(i < 2 ? JW_OK : JW_ERR_USAGE, jw_key_trust(why, keys, "lab", text, &trusted));
	}
}

/* A comment must fit into its space. */
TEST(comments_have_a_length)
{
	struct minisign_secret secret;
	struct minisign_public key;
	struct minisign_signature signature, read;
	struct buf text = BUF_MAX(1 << 16);
	const char *first, *comment, *last;

	make_signature(&secret, &key, &signature);
	minisign_write_signature(&signature, &text);
	first = buf_text(&text);
	comment = strstr(first, "what it is\n");
	assert_non_null(comment);
	last = comment + strlen("what it is");
	for (size_t length = MINISIGN_MAX_COMMENT - 2; length <= MINISIGN_MAX_COMMENT; length++) {
		struct buf longer = BUF_MAX(1 << 16);

		OK(buf_append(why, &longer, first, (size_t)(comment - first)));
		for (size_t i = 0; i < length; i++)
			OK(buf_append(why, &longer, "c", 1));
		OK(buf_append(why, &longer, last, strlen(last)));
		assert_int_equal(
			minisign_read_signature(NULL, (const char *)longer.data, longer.size, &read),
			length < MINISIGN_MAX_COMMENT ? 0 : -1);
		if (length < MINISIGN_MAX_COMMENT)
			assert_int_equal(strlen(read.comment), length);
		buf_free(&longer);
	}
	buf_free(&text);
}

/* 104 zero bytes, in base64 */
#define SEALED_ZEROS                                                                               \
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"                       \
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

TEST(secret_keys)
{
	/* A key of "minisign -G" with a passphrase. */
	static const char sealed[] =
		"untrusted comment: opslimit\n"
		"RWRTY0IyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAACAAAAAAAAAEAAAAAA" SEALED_ZEROS
		"\n";
	struct minisign_secret secret, read;
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);

	minisign_generate(&secret);
	minisign_write_secret(&secret, &text);
	OK(minisign_read_secret(why, buf_text(&text), text.size, &read));
	assert_memory_equal(&read, &secret, sizeof read);
	GIVES(JW_ERR_FORMAT, minisign_read_secret(why, buf_text(&text), text.size - 9, &read));
	GIVES(JW_ERR_UNSUPPORTED, minisign_read_secret(why, sealed, strlen(sealed), &read));
	buf_free(&text);
}

static void copy_file(const char *from, const char *to)
{
	struct buf bytes = {0};

	OK(os_read_file(why, from, 1 << 20, &bytes));
	OK(os_write_atomic(why, to, bytes.data, bytes.size));
	buf_free(&bytes);
}

/* The pack and its signature are sound, except for one thing in each case. */
TEST(a_pack_is_taken_by_what_is_known_of_its_signer)
{
	enum what {
		SOUND,
		NONE,       /* there is no signature beside it */
		UNKNOWN,    /* a key that is not trusted */
		UNREADABLE, /* the trusted keys cannot be listed */
		OTHER_PACK, /* the signature is of other bytes */
		UNSEEN      /* the signature cannot be examined: it is a symlink to itself */
	};
	static const struct {
		enum what what;
		enum jw_code trusting; /* with --allow-unsigned */
		enum jw_code code;     /* without */
		const char *says;
	} cases[] = {
		{SOUND, JW_OK, JW_OK, ""},
		{NONE, JW_OK, JW_ERR_NOT_FOUND, "is not signed"},
		{UNKNOWN, JW_OK, JW_ERR_NOT_FOUND, "is not trusted on this machine"},
		{UNREADABLE, JW_ERR_IO, JW_ERR_IO, "trusted"},
		{OTHER_PACK, JW_ERR_FORMAT, JW_ERR_FORMAT, "is not the signature of this file"},
		{UNSEEN, JW_ERR_IO, JW_ERR_IO, "signed.jwpack.minisig"},
	};
	char *home = keep(os_join(folder, "signers")), *pack = keep(os_join(folder, "signed.jwpack"));
	char *signature = keep(mem_printf("%s.minisig", pack));
	struct minisign_secret secret;
	struct minisign_public key;
	struct pack_manifest manifest;
	struct source *source;
	uint8_t hash[MINISIGN_PREHASH];

	copy_file(JITWARM_SOURCE_DIR "/tests/data/pack-1.jwpack", pack);
	OK(reader_manifest(why, pack, &manifest));
	OK(source_open(why, pack, NULL, &source));
	memcpy(hash, source_prehash(source), sizeof hash);
	source_close(source);
	minisign_generate(&secret);
	minisign_public_of(&secret, &key);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const enum what what = cases[i].what;
		uint8_t signed_hash[MINISIGN_PREHASH];
		char text[MINISIGN_PUBLIC_TEXT];
		struct jw_key trusted;

		if (os_exists(home))
			OK(os_remove_tree(why, home));
		minisign_public_text(text, &key);
		if (what == UNREADABLE) {
			OK(os_make_dirs(why, home, 0700));
			OK(os_write_atomic(why, keep(os_join(home, "trusted")), "x", 1));
		} else if (what != UNKNOWN) {
			OK(jw_key_trust(why, home, "lab", text, &trusted));
		}
		memcpy(signed_hash, hash, sizeof hash);
		signed_hash[0] ^= what == OTHER_PACK;
		OK(trust_sign(why, &secret, &manifest, signed_hash, pack, signature));
		if (what == NONE || what == UNSEEN)
			OK(os_remove(why, signature));
		if (what == UNSEEN)
			assert_int_equal(symlink(signature, signature), 0);
		for (int allow = 0; allow < 2; allow++) {
			const enum jw_code code = allow ? cases[i].trusting : cases[i].code;
			const struct jw_import_options options = {.path = pack,
													  .allow_unsigned = allow,
													  .state_dir = home,
													  .cache_dir = folder,
													  .dry_run = true};
			struct jw_import_result *result = NULL;

			GIVES(code, jw_import(why, &options, &result));
			if (!strstr(code ? why->message : result->note, cases[i].says))
				fail_msg("case %zu, %d: %d: “%s”", i, allow, (int)why->code, why->message);
			if (!code && (*result->signed_by != '\0') != (what == SOUND))
				fail_msg("case %zu: signed by “%s”", i, result->signed_by);
			jw_result_free(result);
		}
	}
	OK(os_remove(why, signature));
	/* A name that is not UTF-8 cannot be part of the text. */
	OK(trust_sign(why, &secret, &manifest, hash, "\xff.jwpack", signature));
	{
		struct buf text = {0};

		OK(os_read_file(why, signature, MINISIGN_MAX_FILE, &text));
		assert_non_null(strstr(buf_text(&text), "\tname:pack\t"));
		buf_free(&text);
	}
	manifest_free(&manifest);
}

/* Checks that a pack with another name now is reported with the name under which it was signed. */
static void check_renamed(const char *path, const char *name)
{
	char *renamed = keep(os_join(folder, name));
	char *signatures[] = {mem_printf("%s.minisig", path), mem_printf("%s.minisig", renamed)};
	char *cache = keep(mem_printf("%s.cache", renamed));
	const struct jw_import_options options = {
		.path = renamed, .state_dir = folder, .cache_dir = cache};
	struct jw_import_result *result;

	copy_file(path, renamed);
	copy_file(signatures[0], signatures[1]);
	OK(jw_import(why, &options, &result));
	assert_non_null(strstr(result->note, "it was signed under the name “"));
	assert_non_null(strstr(result->note, os_base_name(path)));
	jw_result_free(result);
	mem_free(signatures[0]);
	mem_free(signatures[1]);
}

/* Each version's pack has a signature by a key that is trusted here. */
TEST(every_version)
{
	static const char data[] = JITWARM_SOURCE_DIR "/tests/data";
	struct os_names names;
	size_t packs = 0;

	OK(os_list(why, data, &names));
	for (size_t i = 0; i < names.count; i++) {
		char *path = keep(os_join(data, names.items[i])), *key, *copy;
		struct jw_import_options options = {.path = path, .state_dir = folder};
		struct jw_import_result *result;
		struct jw_key trusted;

		if (text_ends(names.items[i], ".jwpack")) {
			key = keep(mem_printf("%.*s.pub", (int)strlen(path) - 7, path));
			copy = keep(mem_printf("%s/%zu", folder, i));
			options.cache_dir = copy;
			OK(jw_key_trust(why, folder, NULL, key, &trusted));
			OK(jw_import(why, &options, &result));
			assert_int_equal(result->added, 3);
			assert_string_equal(result->signed_by, trusted.name);
			assert_string_equal(result->note, "");
			check_renamed(path, "longer-than-its-name-before.jwpack");
			names.items[i][0] ^= 1;
			check_renamed(path, names.items[i]);
			jw_result_free(result);
			packs++;
		}
	}
	assert_true(packs >= 1);
	os_names_free(&names);
}

/* A name becomes a part of a path: none leaves the folder, hides a file or looks like an option */
/* The folder may hold keys: here it is a symlink to itself. */
TEST(a_folder_that_cannot_be_looked_at_is_not_one_without_keys)
{
	char *home = keep(os_join(folder, "looped")), *trusted = keep(os_join(home, "trusted"));
	struct jw_keys *keys;

	OK(os_make_dirs(why, home, 0700));
	OK(jw_key_list(why, home, &keys));
	jw_result_free(keys);
	assert_int_equal(symlink("trusted", trusted), 0);
	GIVES(JW_ERR_IO, jw_key_list(why, home, &keys));
	assert_non_null(strstr(why->message, trusted));
	OK(os_remove_tree(why, home));
}

TEST(names_of_keys_are_checked)
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
	char *keys = keep(os_join(folder, "named"));
	struct jw_key key;

	OK(jw_key_generate(why, folder, "first", &key));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct jw_error err[4] = {{0}};

		assert_int_equal(jw_key_generate(&err[0], keys, bad[i], &key), -1);
		assert_int_equal(jw_key_trust(&err[1], keys, bad[i], key.public_key, &key), -1);
		assert_int_equal(jw_key_distrust(&err[2], keys, bad[i]), -1);
		for (size_t call = 0; call < 3; call++)
			if (err[call].code != JW_ERR_USAGE)
				fail_msg("“%s”, call %zu: %s", bad[i], call, err[call].message);
		/* A text with a separator is a path, and so is an existing file. */
		if (strpbrk(bad[i], "/\\") || os_exists(bad[i]))
			continue;
		assert_int_equal(jw_key_check(&err[3], keys, bad[i]), -1);
		assert_int_equal(err[3].code, JW_ERR_USAGE);
	}
	assert_false(os_exists(keys));
	assert_int_equal(strlen(good), 40);
	OK(jw_key_trust(why, keys, good, key.public_key, &key));
	OK(jw_key_distrust(why, keys, good));
	OK(jw_key_generate(why, keys, good, &key));
	OK(jw_key_check(why, keys, good));
}

RUN_TESTS(make_folder, remove_folder)
