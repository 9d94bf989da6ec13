/* Which modules of a pack need not be in it: those that stand in files that are here. */
#pragma once

#include <jitwarm/pack.h>

#include "pack/manifest.h"

/* Looks for the manifest's PTX in options->files and makes those members thin that are found. What
 * no file has stays in the pack. */
int thin_find(struct jw_error *err, const struct jw_export_options *options,
			  struct pack_manifest *manifest);
