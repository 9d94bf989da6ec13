/* Keys and signatures in minisign's format (https://jedisct1.github.io/minisign), only the
 * prehashed form ("ED"): Ed25519 of the BLAKE2b-512 of a file. In memory; pack/key_files.h has
 * files.
 *
 *     public key   "untrusted comment: …" LF  base64("Ed" · id[8] · key[32]) LF
 *     secret key   "untrusted comment: …" LF  base64("Ed" · kdf[2] · "B2" · salt[32] · opslimit u64
 *                  · memlimit u64 · (id[8] · key[64] · checksum[32]) ^ stream) LF
 *                  kdf 0 0: stream = zeros; "Sc": from a passphrase, which is not supported
 *                  checksum = BLAKE2b-256("Ed" · id · key)
 *     signature    "untrusted comment: …" LF  base64("ED" · id[8] · signature[64]) LF
 *                  "trusted comment: " comment LF  base64(signature of (signature · comment)) LF */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum {
	MINISIGN_ID = 8,
	MINISIGN_PUBLIC = 32,
	MINISIGN_SECRET = 64,
	MINISIGN_SIGNATURE = 64,
	MINISIGN_PREHASH = 64,
	MINISIGN_MAX_COMMENT = 2048, /* bytes, with its NUL; minisign takes 8191 */
	MINISIGN_MAX_FILE = 16384,
	MINISIGN_ID_TEXT = 17,
	MINISIGN_PUBLIC_TEXT = 64,
};

struct minisign_public {
	uint8_t id[MINISIGN_ID], key[MINISIGN_PUBLIC];
};

struct minisign_secret {
	uint8_t id[MINISIGN_ID], key[MINISIGN_SECRET];
};

struct minisign_signature {
	uint8_t id[MINISIGN_ID], signature[MINISIGN_SIGNATURE], global[MINISIGN_SIGNATURE];
	char comment[MINISIGN_MAX_COMMENT]; /* the trusted comment */
};

/* Writes "6D1A…", as minisign does; returns `text`. */
const char *minisign_id_text(char text[MINISIGN_ID_TEXT], const uint8_t id[MINISIGN_ID]);

/* Reads a public key: the text of a file, or only its base64. */
int minisign_read_public(struct jw_error *err, const char *text, size_t size,
						 struct minisign_public *ret_public);
/* This function and those below write into a `text` of at most MINISIGN_MAX_FILE bytes, which is
 * enough. */
void minisign_write_public(const struct minisign_public *key, struct buf *text);
/* Writes only the key's base64, as for `minisign -P`. */
void minisign_public_text(char text[MINISIGN_PUBLIC_TEXT], const struct minisign_public *key);
void minisign_public_of(const struct minisign_secret *secret, struct minisign_public *ret_public);

/* Reads a secret key. JW_ERR_UNSUPPORTED if it has a passphrase; JW_ERR_FORMAT. */
int minisign_read_secret(struct jw_error *err, const char *text, size_t size,
						 struct minisign_secret *ret_secret);
void minisign_write_secret(const struct minisign_secret *secret, struct buf *text);
void minisign_generate(struct minisign_secret *ret_secret);
/* Overwrites a secret. */
void minisign_forget(void *secret, size_t size);

int minisign_read_signature(struct jw_error *err, const char *text, size_t size,
							struct minisign_signature *ret_signature);
void minisign_write_signature(const struct minisign_signature *signature, struct buf *text);
/* Signs a file's BLAKE2b-512, and `comment`, which must have no control characters and at most
 * MINISIGN_MAX_COMMENT - 1 bytes. */
int minisign_sign(struct jw_error *err, const struct minisign_secret *secret,
				  const uint8_t prehash[MINISIGN_PREHASH], const char *comment,
				  struct minisign_signature *ret_signature);
/* Returns whether the signature is the key's, over this file and its own trusted comment. */
bool minisign_verify(const struct minisign_signature *signature, const struct minisign_public *key,
					 const uint8_t prehash[MINISIGN_PREHASH]);
