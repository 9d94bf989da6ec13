#include "pack/minisign.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/cursor.h"
#include "base/text.h"

enum {
	PUBLIC_SIZE = 2 + MINISIGN_ID + MINISIGN_PUBLIC,
	SECRET_AT = 6 + 32 + 8 + 8, /* after the fields about a passphrase */
	SECRET_SIZE = SECRET_AT + MINISIGN_ID + MINISIGN_SECRET + 32,
	SIGNATURE_SIZE = 2 + MINISIGN_ID + MINISIGN_SIGNATURE,
	MAX_BASE64 = 512,
};

static const char untrusted[] = "untrusted comment: ", trusted[] = "trusted comment: ";

const char *minisign_id_text(char text[MINISIGN_ID_TEXT], const uint8_t id[MINISIGN_ID])
{
	(void)snprintf(text, MINISIGN_ID_TEXT, "%016llX", (unsigned long long)load_u64(id));
	return text;
}

void minisign_forget(void *secret, size_t size)
{
	sodium_memzero(secret, size);
}

/* Reads the next line without its end (LF, CR LF or the end of the text); false at the end. */
static bool next_signature_line(struct cursor *at, const char **ret_line, size_t *ret_length)
{
	size_t left = cursor_left(at), length;
	const uint8_t *end = left ? memchr(at->at, '\n', left) : NULL;

	if (!left)
		return false;
	length = end ? (size_t)(end - at->at) : left;
	*ret_line = (const char *)at->at;
	at->at += length + (end ? 1 : 0);
	if (length && (*ret_line)[length - 1] == '\r')
		length--;
	*ret_length = length;
	return true;
}

static bool starts_line(const char *line, size_t length, const char *lead)
{
	return length >= strlen(lead) && !memcmp(line, lead, strlen(lead));
}

/* Decodes a line of base64 of exactly `size` bytes. Accepts only its canonical encoding: libsodium
 * 1.0.18 also accepts characters whose highest bit is set. */
static bool read_base64(struct cursor *at, uint8_t *bytes, size_t size)
{
	char again[MAX_BASE64];
	const char *line;
	size_t length, got;
	bool same;

	if (!next_signature_line(at, &line, &length) || length >= sizeof again ||
		sodium_base642bin(bytes, size, line, length, NULL, &got, NULL,
						  sodium_base64_VARIANT_ORIGINAL) ||
		got != size)
		return false;
	(void)sodium_bin2base64(again, sizeof again, bytes, size, sodium_base64_VARIANT_ORIGINAL);
	same = strlen(again) == length && !memcmp(again, line, length);
	sodium_memzero(again, sizeof again);
	return same;
}

/* Decodes a file that consists of an untrusted comment and one line. */
static bool read_two_lines(const char *text, size_t size, uint8_t *bytes, size_t wanted)
{
	struct cursor at = cursor_of(text, size);
	const char *line;
	size_t length;

	return size <= MINISIGN_MAX_FILE && next_signature_line(&at, &line, &length) &&
		   starts_line(line, length, untrusted) && read_base64(&at, bytes, wanted);
}

/* Appends base64. Every text written here is smaller than MINISIGN_MAX_FILE, its maximum. */
static void append_base64(struct buf *text, const uint8_t *bytes, size_t size)
{
	char line[MAX_BASE64];

	(void)sodium_bin2base64(line, sizeof line, bytes, size, sodium_base64_VARIANT_ORIGINAL);
	(void)buf_printf(NULL, text, "%s\n", line);
	sodium_memzero(line, sizeof line);
}

int minisign_read_public(struct jw_error *err, const char *text, size_t size,
						 struct minisign_public *ret_public)
{
	struct cursor bare = cursor_of(text, size);
	uint8_t bytes[PUBLIC_SIZE];

	if (!read_two_lines(text, size, bytes, sizeof bytes) &&
		!read_base64(&bare, bytes, sizeof bytes))
		return error_set(err, JW_ERR_FORMAT, "not a public key in minisign's format");
	if (memcmp(bytes, "Ed", 2) != 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "a public key of an unknown kind");
	memcpy(ret_public->id, bytes + 2, MINISIGN_ID);
	memcpy(ret_public->key, bytes + 2 + MINISIGN_ID, MINISIGN_PUBLIC);
	return 0;
}

void minisign_public_text(char text[MINISIGN_PUBLIC_TEXT], const struct minisign_public *key)
{
	uint8_t bytes[PUBLIC_SIZE] = "Ed";

	memcpy(bytes + 2, key->id, MINISIGN_ID);
	memcpy(bytes + 2 + MINISIGN_ID, key->key, MINISIGN_PUBLIC);
	(void)sodium_bin2base64(text, MINISIGN_PUBLIC_TEXT, bytes, sizeof bytes,
							sodium_base64_VARIANT_ORIGINAL);
}

void minisign_write_public(const struct minisign_public *key, struct buf *text)
{
	char id[MINISIGN_ID_TEXT], line[MINISIGN_PUBLIC_TEXT];

	minisign_public_text(line, key);
	(void)buf_printf(NULL, text, "%sminisign public key %s\n%s\n", untrusted,
					 minisign_id_text(id, key->id), line);
}

void minisign_public_of(const struct minisign_secret *secret, struct minisign_public *ret_public)
{
	memcpy(ret_public->id, secret->id, MINISIGN_ID);
	(void)crypto_sign_ed25519_sk_to_pk(ret_public->key, secret->key);
}

static void secret_checksum(uint8_t checksum[32], const struct minisign_secret *secret)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, 32);
	crypto_generichash_update(&state, (const uint8_t *)"Ed", 2);
	crypto_generichash_update(&state, secret->id, MINISIGN_ID);
	crypto_generichash_update(&state, secret->key, MINISIGN_SECRET);
	crypto_generichash_final(&state, checksum, 32);
	sodium_memzero(&state, sizeof state);
}

/* Returns whether a secret key is sound. minisign itself leaves the checksum of a key without
 * passphrase empty (0.11): for such a key its two halves must match. */
static bool secret_holds(const struct minisign_secret *secret, const uint8_t checksum[32])
{
	uint8_t wanted[32], seed[crypto_sign_SEEDBYTES], public_key[MINISIGN_PUBLIC];
	uint8_t again[MINISIGN_SECRET];
	bool holds;

	if (!sodium_is_zero(checksum, sizeof wanted)) {
		secret_checksum(wanted, secret);
		return !sodium_memcmp(checksum, wanted, sizeof wanted);
	}
	(void)crypto_sign_ed25519_sk_to_seed(seed, secret->key);
	(void)crypto_sign_seed_keypair(public_key, again, seed);
	holds = !sodium_memcmp(again, secret->key, sizeof again);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(again, sizeof again);
	return holds;
}

int minisign_read_secret(struct jw_error *err, const char *text, size_t size,
						 struct minisign_secret *ret_secret)
{
	struct minisign_secret secret;
	uint8_t bytes[SECRET_SIZE];
	int result = 0;

	if (!read_two_lines(text, size, bytes, sizeof bytes) || memcmp(bytes, "Ed", 2) != 0 ||
		memcmp(bytes + 4, "B2", 2) != 0 ||
		(memcmp(bytes + 2, "Sc", 2) != 0 && memcmp(bytes + 2, "\0\0", 2) != 0))
		return error_set(err, JW_ERR_FORMAT, "not a secret key in minisign's format");
	memcpy(secret.id, bytes + SECRET_AT, MINISIGN_ID);
	memcpy(secret.key, bytes + SECRET_AT + MINISIGN_ID, MINISIGN_SECRET);
	if (bytes[2])
		result = error_set(err, JW_ERR_UNSUPPORTED,
						   "has a passphrase; remove it from a copy: minisign -C -W -s COPY");
	else if (!secret_holds(&secret, bytes + SECRET_AT + MINISIGN_ID + MINISIGN_SECRET))
		result = error_set(err, JW_ERR_FORMAT, "a damaged secret key");
	else
		*ret_secret = secret;
	sodium_memzero(&secret, sizeof secret);
	sodium_memzero(bytes, sizeof bytes);
	return result;
}

void minisign_write_secret(const struct minisign_secret *secret, struct buf *text)
{
	uint8_t bytes[SECRET_SIZE] = "Ed";

	memcpy(bytes + 4, "B2", 2);
	memcpy(bytes + SECRET_AT, secret->id, MINISIGN_ID);
	memcpy(bytes + SECRET_AT + MINISIGN_ID, secret->key, MINISIGN_SECRET);
	secret_checksum(bytes + SECRET_AT + MINISIGN_ID + MINISIGN_SECRET, secret);
	(void)buf_printf(NULL, text, "%sminisign unencrypted secret key\n", untrusted);
	append_base64(text, bytes, sizeof bytes);
	sodium_memzero(bytes, sizeof bytes);
}

void minisign_generate(struct minisign_secret *ret_secret)
{
	uint8_t public_key[MINISIGN_PUBLIC];

	(void)crypto_sign_keypair(public_key, ret_secret->key);
	randombytes_buf(ret_secret->id, MINISIGN_ID);
}

int minisign_read_signature(struct jw_error *err, const char *text, size_t size,
							struct minisign_signature *ret_signature)
{
	struct minisign_signature signature = {0};
	struct cursor at = cursor_of(text, size);
	uint8_t bytes[SIGNATURE_SIZE];
	const size_t lead = sizeof trusted - 1;
	const char *line;
	size_t length;

	if (size > MINISIGN_MAX_FILE)
		return error_set(err, JW_ERR_LIMIT, "too large for a signature");
	if (!next_signature_line(&at, &line, &length) || !starts_line(line, length, untrusted) ||
		!read_base64(&at, bytes, sizeof bytes) || !next_signature_line(&at, &line, &length) ||
		!starts_line(line, length, trusted) || length - lead >= sizeof signature.comment ||
		memchr(line, 0, length))
		return error_set(err, JW_ERR_FORMAT, "not a signature in minisign's format");
	memcpy(signature.comment, line + lead, length - lead);
	if (!read_base64(&at, signature.global, sizeof signature.global) || cursor_left(&at))
		return error_set(err, JW_ERR_FORMAT, "not a signature in minisign's format");
	if (!memcmp(bytes, "Ed", 2))
		return error_set(err, JW_ERR_UNSUPPORTED,
						 "a signature of the old form, which is not prehashed: sign again "
						 "(minisign -S, 0.10 or newer, or with -H)");
	if (memcmp(bytes, "ED", 2) != 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "a signature of an unknown kind");
	memcpy(signature.id, bytes + 2, MINISIGN_ID);
	memcpy(signature.signature, bytes + 2 + MINISIGN_ID, MINISIGN_SIGNATURE);
	*ret_signature = signature;
	return 0;
}

void minisign_write_signature(const struct minisign_signature *signature, struct buf *text)
{
	uint8_t bytes[SIGNATURE_SIZE] = "ED";
	char id[MINISIGN_ID_TEXT];

	memcpy(bytes + 2, signature->id, MINISIGN_ID);
	memcpy(bytes + 2 + MINISIGN_ID, signature->signature, MINISIGN_SIGNATURE);
	(void)buf_printf(NULL, text, "%ssignature from jitwarm with the key %s\n", untrusted,
					 minisign_id_text(id, signature->id));
	append_base64(text, bytes, sizeof bytes);
	(void)buf_printf(NULL, text, "%s%s\n", trusted, signature->comment);
	append_base64(text, signature->global, sizeof signature->global);
}

/* Makes the bytes that the second signature covers. */
static size_t global_message(uint8_t message[MINISIGN_SIGNATURE + MINISIGN_MAX_COMMENT],
							 const struct minisign_signature *signature)
{
	size_t length = strlen(signature->comment);

	memcpy(message, signature->signature, MINISIGN_SIGNATURE);
	memcpy(message + MINISIGN_SIGNATURE, signature->comment, length);
	return MINISIGN_SIGNATURE + length;
}

int minisign_sign(struct jw_error *err, const struct minisign_secret *secret,
				  const uint8_t prehash[MINISIGN_PREHASH], const char *comment,
				  struct minisign_signature *ret_signature)
{
	uint8_t message[MINISIGN_SIGNATURE + MINISIGN_MAX_COMMENT];
	struct minisign_signature signature = {0};
	size_t length = strlen(comment);

	if (length >= sizeof signature.comment || strchr(comment, '\n') ||
		!text_is_utf8(comment, length))
		return error_set(err, JW_ERR_USAGE, "the signed comment must be one line of text");
	memcpy(signature.id, secret->id, MINISIGN_ID);
	memcpy(signature.comment, comment, length);
	(void)crypto_sign_detached(signature.signature, NULL, prehash, MINISIGN_PREHASH, secret->key);
	(void)crypto_sign_detached(signature.global, NULL, message, global_message(message, &signature),
							   secret->key);
	*ret_signature = signature;
	return 0;
}

bool minisign_verify(const struct minisign_signature *signature, const struct minisign_public *key,
					 const uint8_t prehash[MINISIGN_PREHASH])
{
	uint8_t message[MINISIGN_SIGNATURE + MINISIGN_MAX_COMMENT];
	size_t size = global_message(message, signature);

	return !memcmp(signature->id, key->id, MINISIGN_ID) &&
		   !crypto_sign_verify_detached(signature->signature, prehash, MINISIGN_PREHASH,
										key->key) &&
		   !crypto_sign_verify_detached(signature->global, message, size, key->key);
}
