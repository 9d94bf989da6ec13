/* What of a cache directory of unknown form goes into a pack: all of it. */
#pragma once

#include <jitwarm/pack.h>

#include "base/buf.h"
#include "pack/manifest.h"

/* Fills an empty manifest with all files of the directory, hashed. JW_ERR_UNSUPPORTED where it
 * cannot be told which driver they are of, or a file has a name that no pack takes. *ret_sources:
 * for each member the file, index in manifest->tree, that it is read from; the caller frees it. */
int opaque_gather(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				  struct pack_manifest *manifest, size_t **ret_sources);
/* A member's bytes again; JW_ERR_BUSY where the file has changed since. */
int opaque_take(struct jw_error *err, const char *dir, const struct pack_manifest *manifest,
				size_t member, size_t source, struct buf *bytes);
