/* Signs packs, and checks that a trusted key has signed one: cubins are code that GPUs run. */
#pragma once

#include <jitwarm/pack.h>

#include "pack/manifest.h"
#include "pack/minisign.h"
#include "pack/reader.h"

/* Signs a pack with this prehash into the file `path`; the comment names the pack by the last part
 * of `name`. */
int trust_sign(struct jw_error *err, const struct minisign_secret *secret,
			   const struct pack_manifest *manifest, const uint8_t prehash[MINISIGN_PREHASH],
			   const char *name, const char *path);

/* Verifies the signature before anything is decompressed. Returns 0 if a trusted key has signed
 * exactly these bytes, or if the options allow other packs. A trusted key's signature that does not
 * match is refused with any options; a different name of the pack is a note. */
int trust_check(struct jw_error *err, const struct jw_import_options *options,
				const struct source *source, struct jw_import_result *ret_result);
