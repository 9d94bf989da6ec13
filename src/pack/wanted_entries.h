/* The names of the entries of files' modules. */
#pragma once

#include <jitwarm/pack.h>

#include "base/set.h"

/* Computes names under the system's driver, for the given GPUs or else the system's, warm or not.
 * JW_ERR_USAGE: the driver's names or the GPUs are not known. The caller frees the set. */
int wanted_of_paths(struct jw_error *err, const struct jw_export_options *options,
					struct set *ret_keys);
