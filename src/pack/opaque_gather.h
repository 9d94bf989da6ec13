/* Collects all files of a cache directory of unknown form for a pack. */
#pragma once

#include <jitwarm/pack.h>

#include "base/buf.h"
#include "pack/manifest.h"

/* Fills an empty manifest with all files of the directory, hashed. JW_ERR_UNSUPPORTED: the
 * directory's driver is not known, or a pack cannot hold a file's name. *ret_sources: for each
 * member the index in manifest->tree of the file that it is read from; the caller frees it. */
int opaque_gather(struct jw_error *err, const struct jw_export_options *options, const char *dir,
				  struct pack_manifest *manifest, size_t **ret_sources);
/* Reads a member's bytes again; JW_ERR_BUSY if the file has changed since. */
int opaque_take(struct jw_error *err, const char *dir, const struct pack_manifest *manifest,
				size_t member, size_t source, struct buf *bytes);
