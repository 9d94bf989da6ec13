/* Chooses the modules that a pack need not contain, since local files have them. */
#pragma once

#include <jitwarm/pack.h>

#include "pack/manifest.h"

/* Looks for the manifest's PTX in options->files and makes the members thin that it finds. The
 * others stay in the pack. */
int thin_find(struct jw_error *err, const struct jw_export_options *options,
			  struct pack_manifest *manifest);
