/* Passphrases of keys: from a file, else from the terminal; never from the command line. */
#pragma once

#include "cli/command.h"
#include "cli/options.h"

enum { PASSPHRASE_SIZE = 1025 };
#define PASSPHRASE_DEFAULT_KEY "default"

#define PASSPHRASE_OPTION                                                                          \
	CLI_VALUE("passphrase-file", "FILE",                                                           \
			  "The first line of FILE is the key's passphrase; without it the terminal asks",      \
			  .names = NAMES_FILE, .setting = true, .rare = true)

/* The passphrase of an existing key, in `room`; NULL for a key without one. */
int passphrase_of_key(struct jw_error *err, const struct options *options, const char *state_dir,
					  const char *key, char room[PASSPHRASE_SIZE], const char **ret_passphrase);
/* Asks for a passphrase for any key; twice if `is_new`. */
int passphrase_ask(struct jw_error *err, const struct options *options, const char *question,
				   bool is_new, char room[PASSPHRASE_SIZE]);
void passphrase_forget(char room[PASSPHRASE_SIZE]);
