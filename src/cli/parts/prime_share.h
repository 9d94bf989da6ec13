/* `prime --share`: a place of objects, which others use meanwhile. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/parts/registry_options.h"

#define PRIME_SHARE_OPTIONS                                                                        \
	CLI_VALUE("share", "PLACE",                                                                    \
			  "Take each module from DIR, https://HOST/PATH or s3://BUCKET/PREFIX before "         \
			  "compiling it, and put there what is compiled; with --sign signed"),                 \
		CLI_FLAG("back", "With --share: put one pack of the whole there too, for others"),         \
		CLI_FLAG("share-unsigned", "With --share: trust whoever can write there, also without a "  \
								   "signature"),                                                   \
		INSECURE_OPTIONS

struct prime_share {
	struct registry_given given;
	struct jw_share_options options;
	char passphrase[PASSPHRASE_SIZE];
};

/* Wrong usage, said before any work */
int prime_share_check(struct jw_error *err, const struct cli *cli);
/* Asks for the passphrase. Must not be copied afterwards. */
int prime_share_read(struct jw_error *err, const struct cli *cli, struct prime_share *share);
/* What the library asks for; NULL where it is not given. */
const struct jw_share_options *prime_share_options(const struct prime_share *share);
/* What came from the place, and went there. */
void prime_share_print(const struct output *out, const struct jw_prime_result *result);
void prime_share_free(struct prime_share *share);
