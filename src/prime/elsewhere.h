/* A run for another machine: the ptxas that compiles, and the pack of the results. */
#pragma once

#include <jitwarm/compiler.h>
#include <jitwarm/prime.h>

/* Before a run: finds the compiler of the system's driver, says in *result where its code is not
 * the driver's own, and refuses a key that could not sign the pack. The caller frees *ret_compiler
 * with jw_compiler_free. */
int elsewhere_prepare(struct jw_error *err, const struct jw_system *system,
					  const struct jw_prime_options *options, struct jw_prime_result *result,
					  struct jw_compiler *ret_compiler);
/* After it: the pack that the options ask for. */
void elsewhere_write_pack(const struct jw_system *system, const struct jw_prime_options *options,
						  struct jw_prime_result *result);
