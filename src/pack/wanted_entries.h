/* The entries that some files' modules would have. */
#pragma once

#include <jitwarm/pack.h>

#include "base/set.h"

/* Their names under the system's driver, for the GPUs asked about or, where none are, the system's:
 * everything that the files hold, whether it is warm or not. JW_ERR_USAGE where the driver's names
 * or the GPUs are not known. The caller frees the set. */
int wanted_of_paths(struct jw_error *err, const struct jw_export_options *options,
					struct set *ret_keys);
