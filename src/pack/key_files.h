/* Keys as files: $STATE/keys/NAME.key (secret, 0600), $STATE/keys/NAME.pub,
 * $STATE/trusted/NAME.pub, and NAME.pub in the folder of jw_use_trusted_keys. */
#pragma once

#include <jitwarm/key.h>

#include "pack/minisign.h"

/* Reads the secret key with that name, or in that file. The caller overwrites it after use. */
int keys_read(struct jw_error *err, const char *state_dir, const char *key,
			  struct minisign_secret *ret_secret);

/* Finds the trusted key with this id, and its name; JW_ERR_NOT_FOUND. The superuser trusts no key
 * that another account could have put there. */
int keys_find_trusted(struct jw_error *err, const char *state_dir, const uint8_t id[MINISIGN_ID],
					  struct minisign_public *ret_public, char ret_name[64]);
