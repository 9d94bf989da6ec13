/* Which compiler bakes for other machines. */
#pragma once

#include <jitwarm/bake.h>

/* The oldest ptxas at hand that knows the GPUs and reads the libraries' PTX, and that is not newer
 * than the driver: *ret_path, which the caller frees. NULL: there is none, or the driver here
 * compiles. */
int bake_compiler_choose(struct jw_error *err, const struct jw_bake_options *options,
						 char **ret_path);
