/* Keys that sign packs, in minisign's format: the user's own, and trusted keys of others. They are
 * files in the state directory, keys/NAME.key with keys/NAME.pub, and trusted/NAME.pub; a folder
 * of jw_use_trusted_keys holds further trusted keys.
 *
 * Threads: in a process, one call that writes at a time per state directory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jitwarm/error.h>

struct jw_key {
	char name[64];
	char id[17];         /* as minisign writes it */
	char public_key[64]; /* base64, as for `minisign -P` */
	bool can_sign;       /* the secret key exists, has no passphrase, and is not refused */
	bool trusted;        /* packs that it signed are imported */
	char refused[1024];  /* one line on why a file of this key is not used: it cannot be read (then
							`id` and `public_key` are ""), or another account can change it; "" if it
							is used */
};

/* Makes a key pair called `name` (letters, digits, '-', '_' and '.'; at most 40 bytes), and trusts
 * it. The secret key's file is readable only for its account. JW_ERR_USAGE if the name is taken. */
int jw_key_generate(struct jw_error *err, const char *state_dir, const char *name,
					struct jw_key *ret_key);
/* Trusts a public key: a file, or its base64 text. A NULL `name` stands for its id. JW_ERR_USAGE if
 * another key is trusted under that name. */
int jw_key_trust(struct jw_error *err, const char *state_dir, const char *name,
				 const char *path_or_text, struct jw_key *ret_key);
/* Stops trusting a key under all of its names; JW_ERR_NOT_FOUND. */
int jw_key_distrust(struct jw_error *err, const char *state_dir, const char *name);

/* Checks that jw_export can sign with this key, a name or the path of a secret key. Fails with
 * JW_ERR_UNSUPPORTED if the key has a passphrase. */
int jw_key_check(struct jw_error *err, const char *state_dir, const char *key);

/* From now on also trusts the public keys in this folder (NAME.pub); NULL for no folder. Call it
 * before other threads start. */
void jw_use_trusted_keys(const char *folder);

struct jw_keys {
	/* Sorted by name; a key that is trusted under two names is listed twice. */
	struct jw_key *items;
	size_t count;
};
/* Lists the signing keys and the trusted keys. The caller frees them with jw_result_free. */
int jw_key_list(struct jw_error *err, const char *state_dir, struct jw_keys **ret_keys);
