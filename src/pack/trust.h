/* Whether a pack comes from somebody who is trusted: cubins are code that GPUs will run. */
#pragma once

#include <jitwarm/pack.h>

#include "pack/manifest.h"
#include "pack/minisign.h"
#include "pack/pack_source.h"

/* Signs a pack with this prehash into the file `path`; `name` is what the comment calls the pack
 * (its last part). */
int trust_sign(struct jw_error *err, const struct minisign_secret *secret,
			   const struct pack_manifest *manifest, const uint8_t prehash[MINISIGN_PREHASH],
			   const char *name, const char *path);

/* Before anything is unpacked. 0: a trusted key has signed exactly these bytes, or the options
 * allow others. A signature by a trusted key that does not hold is refused whatever they allow. */
int trust_check(struct jw_error *err, const struct jw_import_options *options,
				const struct source *source, struct jw_import_result *result,
				struct minisign_signature *ret_signature);
/* What jitwarm has signed along with the bytes is held against the manifest; a pack under another
 * name is a note. */
int trust_check_comment(struct jw_error *err, const struct jw_import_options *options,
						const struct source *source, const struct minisign_signature *signature,
						const struct pack_manifest *manifest, struct jw_import_result *result);
