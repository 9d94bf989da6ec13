/* `prime --from`, `--back`: a registry's packs before and after the compiling; `--share`: a place
 * of objects meanwhile. */
#pragma once

#include <jitwarm/prime.h>

#include "cli/parts/registry_options.h"

#define PRIME_REGISTRY_OPTIONS                                                                         \
	CLI_VALUE("from", "oci://HOST/REPOSITORY",                                                         \
			  "First take the packs of these files from this registry (“jitwarm pull”); only the " \
			  "rest is compiled"),                                                                     \
		CLI_FLAG("back", "Put one pack of the whole there too, for others: into the registry of "      \
						 "--from, the place of --share; with --sign signed"),                          \
		CLI_FLAG("allow-unsigned", "With --from: accept packs that no trusted key has signed"),        \
		CLI_VALUE("share", "PLACE",                                                                    \
				  "Take each module from DIR, https://HOST/PATH or s3://BUCKET/PREFIX before "         \
				  "compiling it, and put there what is compiled; with --sign signed"),                 \
		CLI_FLAG("share-unsigned", "With --share: trust whoever can write there, also without a "      \
								   "signature"),                                                       \
		REGISTRY_OPTIONS

struct prime_registry {
	struct registry_given given;
	struct jw_import_options import;
	struct jw_pull_options from;
	struct jw_push_options back;
	struct jw_share_options share;
	char passphrase[PASSPHRASE_SIZE];
};

/* Wrong usage, said before any work */
int prime_registry_check(struct jw_error *err, const struct cli *cli);
/* Must not be copied afterwards. */
int prime_registry_read(struct jw_error *err, const struct cli *cli,
						struct prime_registry *registry);
/* What the library asks for; NULL where it is not given. */
const struct jw_pull_options *prime_registry_from(const struct prime_registry *registry);
const struct jw_push_options *prime_registry_back(const struct prime_registry *registry);
const struct jw_share_options *prime_registry_share(const struct prime_registry *registry);
/* Before and after compiling. A push that failed is work left undone. */
void prime_registry_print_pulled(const struct output *out, const struct jw_prime_result *result);
void prime_registry_print_pushed(struct cli *cli, const struct jw_prime_result *result);
/* What came from the place of objects, and went there. */
void prime_registry_print_shared(const struct output *out, const struct jw_prime_result *result);
void prime_registry_free(struct prime_registry *registry);
