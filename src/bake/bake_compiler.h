/* Which compiler bakes for other machines. */
#pragma once

#include <jitwarm/bake.h>
#include <jitwarm/compiler.h>

/* Without a driver's name (the system's driver is unknown) GPUs and PTX alone decide: *ret_compiler
 * is the oldest ptxas at hand, or that can be fetched, that knows the GPUs and reads the PTX that a
 * start would compile; newer than CUDA 12 only where it has to be. With one, it is not newer than
 * that driver. `path` NULL: nothing is to be compiled. The caller frees it with jw_compiler_free.
 */
int bake_compiler_choose(struct jw_error *err, const struct jw_bake_options *options,
						 const struct jw_prime_options *prime, struct jw_compiler *ret_compiler);
